import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Controllers that report subevents, slots and responses that cannot be.
@Suite("Odd trains with responses")
struct ResponseOddsTests {
    private func rig() -> HostRig {
        let rig = HostRig()
        rig.features = [
            .encryption, .extendedAdvertising, .periodicAdvertising, .periodicAdvertisingWithResponsesAdvertiser,
            .periodicAdvertisingWithResponsesScanner,
        ]
        rig.start()
        rig.forget()
        return rig
    }

    private func events(_ rig: HostRig, of operation: OperationID) -> [AdvertisingSetEvent] {
        rig.events.compactMap { if case .advertisingSet(operation, _, let event) = $0 { event } else { nil } }
    }

    private func trainEvents(_ rig: HostRig, of operation: OperationID) -> [PeriodicSyncEvent] {
        rig.events.compactMap { if case .train(operation, _, let event) = $0 { event } else { nil } }
    }

    private func advertise(_ rig: HostRig) -> OperationID {
        let set = rig.submit(.radio(.advertiseSet(ResponseTests.set())))
        rig.advance(by: .seconds(1))
        #expect(rig.count(of: LESetPeriodicAdvertisingParametersV2.opcode) == 1)
        #expect(rig.count(of: LESetPeriodicAdvertisingData.opcode) == 0)
        rig.forget()
        return set
    }

    private func report(
        _ responses: [LEPeriodicAdvertisingResponseReport.Response], subevent: UInt8 = 0, handle: UInt8 = 1
    ) -> LEPeriodicAdvertisingResponseReport {
        LEPeriodicAdvertisingResponseReport(
            advertisingHandle: handle, subeventNumber: subevent, transmitStatus: 0, responses: responses)
    }

    // MARK: The advertiser

    @Test("requests for subevents out of range, of no set or of one that is cancelled are counted and dropped")
    func requests() {
        let rig = rig()
        let set = advertise(rig)
        let before = rig.counters.unexpectedEvents
        for (handle, first, count) in [(1, 4, 1), (1, 0, 5), (1, 0, 0), (1, 255, 1), (2, 0, 1), (0, 0, 1)] {
            rig.receive(
                LEPeriodicAdvertisingSubeventDataRequest(
                    advertisingHandle: UInt8(handle), firstSubevent: UInt8(first), subeventCount: UInt8(count)))
        }
        #expect(events(rig, of: set).isEmpty)
        #expect(rig.counters.unexpectedEvents == before + 6)
        // After the last subevent comes the first one.
        rig.receive(
            LEPeriodicAdvertisingSubeventDataRequest(advertisingHandle: 1, firstSubevent: 3, subeventCount: 4))
        #expect(events(rig, of: set) == [.dataRequested(firstSubevent: 3, count: 4)])
        rig.forget()
        rig.submit(.cancel(set))
        rig.receive(
            LEPeriodicAdvertisingSubeventDataRequest(advertisingHandle: 1, firstSubevent: 0, subeventCount: 1))
        #expect(events(rig, of: set).isEmpty)
    }

    @Test("data are sent in one command; those that do not fit, or for subevents and slots that are not there, are not")
    func data() {
        let rig = rig()
        let set = advertise(rig)
        let opcode = LESetPeriodicAdvertisingSubeventData.opcode
        func result(_ subevents: [SubeventData], of set: OperationID) -> [Result<HostResult, HostFailure>] {
            rig.results(of: rig.submit(.radio(.sendSubevents(subevents, of: set))))
        }
        let refused: [Result<HostResult, HostFailure>] = [.failure(.invalidRequest(.subevents))]
        #expect(result([], of: set) == refused)
        #expect(result([SubeventData(subevent: 4, data: [])], of: set) == refused)
        #expect(
            result([SubeventData(subevent: 0, firstResponseSlot: 1, responseSlotCount: 8, data: [])], of: set)
                == refused)
        #expect(
            result([SubeventData(subevent: 0, firstResponseSlot: 255, responseSlotCount: 255, data: [])], of: set)
                == refused)
        #expect(result([SubeventData(subevent: 0, data: Array(repeating: 0, count: 250))], of: set) == refused)
        #expect(
            result(Array(repeating: SubeventData(subevent: 0, data: []), count: 16), of: set) == refused)
        #expect(
            result(
                Array(repeating: SubeventData(subevent: 0, data: Array(repeating: 0, count: 123)), count: 2), of: set)
                == refused)
        #expect(result([SubeventData(subevent: 0, data: [1])], of: OperationID(rawValue: 4711)) == refused)
        #expect(rig.count(of: opcode) == 0)
        #expect(
            result([SubeventData(subevent: 3, responseSlotCount: 8, data: Array(repeating: 5, count: 249))], of: set)
                == [.success(.done)])
        #expect(rig.commands.last { $0.opcode == opcode }?.parameters.count == 255)
        rig.answers[opcode] = .complete([HCIStatus.tooLate.rawValue, 1])
        #expect(
            result([SubeventData(subevent: 0, data: [1])], of: set) == [.failure(.controller(.tooLate, opcode))])
        // The loss of the controller ends what waits for its answer.
        rig.answers[opcode] = .silence
        let waiting = rig.submit(.radio(.sendSubevents([SubeventData(subevent: 0, data: [1])], of: set)))
        rig.receive(HardwareError(hardwareCode: 1))
        rig.advance(by: .seconds(1))
        #expect(rig.results(of: waiting) == [.failure(.controllerLost)])
    }

    @Test("responses of subevents and slots that the train does not have are dropped; parts are joined slot by slot")
    func responses() {
        let rig = rig()
        let set = advertise(rig)
        let before = rig.counters.unexpectedEvents
        rig.receive(report([.init(slot: 0, data: [1])], subevent: 4))
        rig.receive(report([.init(slot: 0, data: [1])], handle: 2))
        rig.receive(report([.init(slot: 8, data: [1]), .init(slot: 255, data: [1])]))
        #expect(events(rig, of: set).isEmpty && rig.counters.unexpectedEvents == before + 4)
        rig.receive(
            report([
                .init(slot: 0, dataStatus: .incompleteMoreToCome, data: [1]),
                // Another slot: the rest of slot 0 is lost.
                .init(slot: 1, dataStatus: .incompleteMoreToCome, data: [2]),
                .init(slot: 1, dataStatus: .incompleteTruncated, data: [3]),
                .init(slot: 2, dataStatus: .failedToReceive, data: []),
                .init(slot: 0, data: [4]),
                .init(slot: 5, dataStatus: AdvertisingDataStatus(rawValue: 0x77), data: [6]),
            ]))
        #expect(
            events(rig, of: set) == [
                .response(SlotResponse(subevent: 0, slot: 1, data: [2, 3], isTruncated: true)),
                .response(SlotResponse(subevent: 0, slot: 2, data: nil)),
                .response(SlotResponse(subevent: 0, slot: 0, data: [4])),
                .response(SlotResponse(subevent: 0, slot: 5, data: [6])),
            ])
    }

    @Test("endless responses and requests take bounded memory while nobody collects the events")
    func flood() {
        let rig = rig()
        let set = advertise(rig)
        rig.collectsEvents = false
        let octets = Array(repeating: UInt8(1), count: 240)
        for _ in 0..<6000 {
            rig.receive(report([.init(slot: 0, data: octets)]))
            rig.receive(
                LEPeriodicAdvertisingSubeventDataRequest(advertisingHandle: 1, firstSubevent: 0, subeventCount: 4))
            rig.receive(report([.init(slot: 3, dataStatus: .incompleteMoreToCome, data: octets)]))
        }
        rig.collectsEvents = true
        rig.advance(by: .seconds(1))
        #expect(1...4096 ~= events(rig, of: set).count)
        #expect(rig.counters.droppedValues >= 7904)
    }

    @Test("the events of trains stay on if a set with responses comes while a search that has just begun is given up")
    func eventMask() {
        let rig = rig()
        // The controller's sets are known.
        rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        rig.advance(by: .seconds(1))
        rig.answers[LESetEventMask.opcode] = .silence
        rig.submit(.cancel(follow(rig)))
        rig.submit(.radio(.advertiseSet(ResponseTests.set())))
        rig.answers[LESetEventMask.opcode] = nil
        rig.receive(CommandComplete(opcode: LESetEventMask.opcode, returnParameters: [0]))
        let found = follow(rig)
        rig.receive(established(4))
        #expect(trainEvents(rig, of: found).count == 1)
        let masks = rig.commands.filter { $0.opcode == LESetEventMask.opcode }.map { command in
            LEEventMask(rawValue: command.parameters.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        #expect(masks.count == 2)
        let wanted: LEEventMask = [
            .periodicAdvertisingReport, .periodicAdvertisingReportV2, .periodicAdvertisingResponseReport,
        ]
        #expect(masks.last?.isSuperset(of: wanted) == true)
    }

    // MARK: The receiver

    private func established(_ count: UInt8, handle: UInt16 = 1) -> LEPeriodicAdvertisingSyncEstablishedV2 {
        LEPeriodicAdvertisingSyncEstablishedV2(
            synchronizationHandle: SynchronizationHandle(rawValue: handle), advertisingSetIdentifier: 1,
            advertiserAddress: HostRig.peer(1), advertiserPHY: .le1M, interval: .milliseconds(100),
            advertiserClockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: count, subeventInterval: 20,
            responseSlotDelay: 6, responseSlotSpacing: 16)
    }

    private func follow(_ rig: HostRig, _ subevents: [UInt8]? = nil) -> OperationID {
        var request = PeriodicSyncRequest([.init(address: HostRig.peer(1), identifier: 1)])
        request.options.subevents = subevents
        return rig.submit(.radio(.followPeriodicAdvertising(request)))
    }

    private func packet(
        _ subevent: UInt8, _ status: AdvertisingDataStatus = .complete, data: [UInt8]
    ) -> LEPeriodicAdvertisingReportV2 {
        LEPeriodicAdvertisingReportV2(
            synchronizationHandle: SynchronizationHandle(rawValue: 1), eventCounter: 7, subeventNumber: subevent,
            dataStatus: status, data: data)
    }

    @Test("reports of subevents that the train does not have or nobody wants are dropped; parts of two are not mixed")
    func reports() {
        let rig = rig()
        let follow = follow(rig, [0, 3])
        rig.receive(established(4))
        let choose = LESetPeriodicSyncSubevent.opcode
        #expect(rig.commands.last { $0.opcode == choose }?.parameters == [1, 0, 0, 0, 2, 0, 3])
        rig.receive(packet(1, data: [1]))
        rig.receive(packet(4, data: [1]))
        rig.receive(packet(0xFE, data: [1]))
        rig.receive(packet(0, .incompleteMoreToCome, data: [1]))
        rig.receive(packet(3, .incompleteMoreToCome, data: [2]))
        rig.receive(packet(3, data: [3]))
        rig.receive(packet(0, .incompleteMoreToCome, data: [4]))
        rig.receive(packet(0, .failedToReceive, data: []))
        rig.receive(packet(0, data: [5]))
        let reports = trainEvents(rig, of: follow).compactMap {
            if case .report(let report) = $0 { report } else { nil }
        }
        #expect(reports.map(\.data) == [[2, 3], [5]])
        #expect(reports.map(\.subevent) == [3, 0] && reports.allSatisfy { $0.event == 7 })
    }

    @Test("a train of 129 subevents is followed as one without; one of 128 is chosen whole")
    func counts() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        let strange = follow(rig)
        rig.receive(established(129))
        #expect(rig.count(of: choose) == 0)
        guard case .synchronized(let information)? = trainEvents(rig, of: strange).first else {
            Issue.record("not synchronized")
            return
        }
        #expect(information.subevents == nil)
        rig.submit(.cancel(strange))
        let large = follow(rig)
        rig.receive(established(128))
        #expect(rig.commands.last { $0.opcode == choose }?.parameters.count == 133)
        #expect(rig.results(of: large).isEmpty)
    }

    @Test("a controller that refuses the subevents ends the request; one that has just lost the train does not")
    func refusal() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        rig.answers[choose] = .complete([HCIStatus.unknownAdvertisingIdentifier.rawValue])
        let lost = follow(rig)
        rig.receive(established(4))
        #expect(rig.results(of: lost).isEmpty)
        rig.submit(.cancel(lost))
        rig.answers[choose] = .complete([HCIStatus.invalidCommandParameters.rawValue])
        let refused = follow(rig)
        rig.receive(established(4))
        #expect(rig.results(of: refused) == [.failure(.controller(.invalidCommandParameters, choose))])
        #expect(rig.count(of: LEPeriodicAdvertisingTerminateSync.opcode) == 2)
        rig.answers[choose] = .silence
        let silent = follow(rig)
        rig.receive(established(4))
        rig.advance(by: .seconds(30))
        #expect(rig.results(of: silent) == [.failure(.commandTimeout(choose))])
    }

    @Test("a refusal ends the newest of the wishes that the controller had not accepted before, and no other")
    func refusalOfTheNewest() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        let terminate = LEPeriodicAdvertisingTerminateSync.opcode
        let first = follow(rig, [0])
        rig.receive(established(4))
        rig.answers[choose] = .silence
        let second = follow(rig, [0, 1])
        let third = follow(rig, [2])
        let content = follow(rig, [0])
        let full = HCIStatus.memoryCapacityExceeded
        let refusal = CommandComplete(opcode: choose, returnParameters: [full.rawValue, 1, 0])
        // It is about the wishes before the third.
        rig.receive(refusal)
        #expect([first, second, third, content].allSatisfy { rig.results(of: $0).isEmpty })
        #expect(rig.commands.last { $0.opcode == choose }?.parameters == [1, 0, 0, 0, 3, 0, 1, 2])
        rig.receive(refusal)
        #expect(rig.results(of: third) == [.failure(.controller(full, choose))])
        #expect(rig.commands.last { $0.opcode == choose }?.parameters == [1, 0, 0, 0, 2, 0, 1])
        rig.receive(CommandComplete(opcode: choose, returnParameters: [0, 1, 0]))
        // What was accepted stays in force if the controller refuses less.
        rig.answers[choose] = .complete([HCIStatus.invalidCommandParameters.rawValue, 1, 0])
        rig.submit(.cancel(second))
        #expect([first, content].allSatisfy { rig.results(of: $0).isEmpty })
        #expect(rig.count(of: terminate) == 0)
        rig.receive(packet(0, data: [7]))
        for operation in [first, content] {
            guard case .report(let report)? = trainEvents(rig, of: operation).last else {
                Issue.record("no report")
                continue
            }
            #expect(report.data == [7])
        }
    }

    @Test("who takes a peer's trains goes on with the others when the controller refuses the subevents of one")
    func refusalOfTransfer() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        let link = rig.connect(HostRig.peer(5))
        var options = PeriodicSyncSettings()
        options.subevents = [0]
        let modest = rig.submit(.radio(.receivePeriodicSyncs(link, options)))
        rig.receive(transferred(on: link, handle: 1))
        options.subevents = [1]
        let greedy = rig.submit(.radio(.receivePeriodicSyncs(link, options)), from: ClientID(rawValue: 2))
        rig.answers[choose] = .complete([HCIStatus.memoryCapacityExceeded.rawValue, 2, 0])
        // Nothing of this one was accepted.
        rig.receive(transferred(on: link, handle: 2))
        for operation in [modest, greedy] {
            #expect(rig.results(of: operation).isEmpty)
            #expect(trainEvents(rig, of: operation).last == .lost(advertiser: HostRig.peer(1), identifier: 2))
        }
        #expect(rig.count(of: LEPeriodicAdvertisingTerminateSync.opcode) == 1)
        rig.receive(packet(0, data: [7]))
        guard case .report(let report)? = trainEvents(rig, of: modest).last else {
            Issue.record("no report")
            return
        }
        #expect(report.data == [7] && report.identifier == 1)
    }

    @Test("wishes that come while the controller has not answered are chosen together when it has, however many")
    func manyWishes() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        rig.answers[choose] = .silence
        let first = follow(rig, [0])
        rig.receive(established(128))
        let others = (1..<100).map { follow(rig, [UInt8($0)]) }
        #expect(rig.count(of: choose) == 1)
        rig.answers[choose] = nil
        rig.receive(CommandComplete(opcode: choose, returnParameters: [0, 1, 0]))
        #expect(rig.count(of: choose) == 2)
        let all: [UInt8] = [1, 0, 0, 0, 100] + Array(0..<100)
        #expect(rig.commands.last { $0.opcode == choose }?.parameters == all)
        #expect(([first] + others).allSatisfy { rig.results(of: $0).isEmpty })
    }

    @Test("what was accepted for a train that was lost does not hold for the next one with its handle")
    func choiceOfLostTrain() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        let follow = follow(rig, [2])
        rig.receive(established(4))
        rig.receive(LEPeriodicAdvertisingSyncLost(synchronizationHandle: SynchronizationHandle(rawValue: 1)))
        rig.answers[choose] = .complete([HCIStatus.memoryCapacityExceeded.rawValue, 1, 0])
        rig.receive(established(4))
        #expect(rig.results(of: follow) == [.failure(.controller(.memoryCapacityExceeded, choose))])
    }

    @Test("a controller that repeats one train and answers nothing is asked a limited number of times")
    func repetition() {
        let rig = rig()
        let choose = LESetPeriodicSyncSubevent.opcode
        let follow = follow(rig)
        rig.answers[choose] = .silence
        for _ in 0..<2000 { rig.receive(established(4)) }
        #expect(rig.results(of: follow).isEmpty)
        rig.answers[choose] = nil
        rig.advance(by: .seconds(30))
        #expect(rig.count(of: choose) <= TrainTable.transferLimit + 1)
    }

    private func transferred(on link: LinkID, handle: UInt16) -> LEPeriodicAdvertisingSyncTransferReceivedV2 {
        LEPeriodicAdvertisingSyncTransferReceivedV2(
            connectionHandle: link.handle, serviceData: 0,
            synchronizationHandle: SynchronizationHandle(rawValue: handle), advertisingSetIdentifier: UInt8(handle),
            advertiserAddress: HostRig.peer(1), advertiserPHY: .le1M, interval: .milliseconds(100),
            advertiserClockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: 4, subeventInterval: 20,
            responseSlotDelay: 6, responseSlotSpacing: 16)
    }

    @Test("who wants subevents of a peer's trains is refused at once by a controller that can receive none")
    func refusedReceiver() {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising, .periodicAdvertising]
        rig.start()
        let link = rig.connect()
        var options = PeriodicSyncSettings()
        options.subevents = [0]
        let received = rig.submit(.radio(.receivePeriodicSyncs(link, options)))
        let failure = HostFailure.controller(.unsupportedFeatureOrParameterValue, LESetPeriodicSyncSubevent.opcode)
        #expect(rig.results(of: received) == [.failure(failure)])
        #expect(rig.count(of: LESetPeriodicAdvertisingSyncTransferParameters.opcode) == 0)
    }

    @Test("a response is refused while the operation follows several trains: it does not say in which it is sent")
    func severalTrains() {
        let rig = rig()
        let opcode = LESetPeriodicAdvertisingResponseData.opcode
        let link = rig.connect(HostRig.peer(5))
        let received = rig.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        for handle in 1...2 as ClosedRange<UInt16> { rig.receive(transferred(on: link, handle: handle)) }
        #expect(trainEvents(rig, of: received).count == 2)
        let command = HostCommand.radio(
            .respondInPeriodicAdvertising(PeriodicResponse(toEvent: 1, subevent: 0, slot: 0, data: []), in: received))
        #expect(rig.results(of: rig.submit(command)) == [.failure(.invalidRequest(.train))])
        #expect(rig.count(of: opcode) == 0)
        rig.receive(LEPeriodicAdvertisingSyncLost(synchronizationHandle: SynchronizationHandle(rawValue: 1)))
        #expect(rig.results(of: rig.submit(command)) == [.success(.done)])
        #expect(rig.commands.last { $0.opcode == opcode }?.parameters.first == 2)
    }

    @Test("a response needs a train with slots, a subevent of it and data that fit")
    func response() {
        let rig = rig()
        let opcode = LESetPeriodicAdvertisingResponseData.opcode
        let follow = follow(rig)
        func result(_ response: PeriodicResponse) -> [Result<HostResult, HostFailure>] {
            rig.results(of: rig.submit(.radio(.respondInPeriodicAdvertising(response, in: follow))))
        }
        let refused: [Result<HostResult, HostFailure>] = [.failure(.invalidRequest(.subevents))]
        // It is not found yet.
        #expect(result(PeriodicResponse(toEvent: 1, subevent: 0, slot: 0, data: [])) == refused)
        rig.receive(established(4))
        #expect(result(PeriodicResponse(toEvent: 1, subevent: 4, slot: 0, data: [])) == refused)
        #expect(result(PeriodicResponse(toEvent: 1, subevent: 0, in: 4, slot: 0, data: [])) == refused)
        #expect(
            result(PeriodicResponse(toEvent: 1, subevent: 0, slot: 0, data: Array(repeating: 0, count: 248))) == refused
        )
        #expect(rig.count(of: opcode) == 0)
        #expect(
            result(PeriodicResponse(toEvent: 1, subevent: 0, in: 3, slot: 255, data: Array(repeating: 0, count: 247)))
                == [.success(.done)])
        #expect(rig.commands.last { $0.opcode == opcode }?.parameters.count == 255)
    }
}
