import BLEDaemonProtocol
import BLEHost
import BLEPackets
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Sets, trains and the controller of a tool")
struct ToolRadioTests {
    private static let client = ToolStage.client

    @Test("of a thousand scans a client gets eight, and another one when one has ended")
    func manyScans() {
        var stage = ToolStage()
        for _ in 0..<1000 { stage.request { $0.scan.allowsDuplicates = true } }
        #expect(stage.submitted.count == 8)
        #expect(stage.failures.count == 992 && Set(stage.failures.values) == [.limitReached])
        stage.session.hear(.completed(OperationID(rawValue: 1002), .failure(.cancelled)), waiting: 0)
        stage.request { $0.scan.isActive = true }
        #expect(stage.submitted.count == 9)
    }

    @Test("a request names at most 512 UUIDs: what is found is compared with all of them")
    func manyUUIDs() {
        let uuids = (0..<513 as Range<UInt16>).map { Data([UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)]) }
        var stage = ToolStage()
        stage.request { $0.scan.services = Array(uuids.dropLast()) }
        #expect(stage.submitted.count == 1 && !stage.session.hasEnded)
        stage.request {
            $0.scan.hasSolicitedServices_p = true
            $0.scan.solicitedServices = uuids
        }
        #expect(stage.submitted.count == 1 && stage.session.hasEnded)
        var second = ToolStage()
        second.request { $0.scan.services = uuids }
        #expect(second.submitted.isEmpty && second.session.hasEnded)
    }

    @Test("of a thousand sets a client gets four; a new one when one has ended, and all end with it")
    func manySets() {
        var stage = ToolStage()
        for _ in 0..<1000 { stage.request { $0.advertiseSet.data = .init([2, 1, 6]) } }
        #expect(stage.submitted.count == 4)
        // Requests that are under way come first: the others are refused, each once.
        #expect(stage.failures.count == 996 && Set(stage.failures.values) == [.limitReached])
        stage.session.hear(.completed(OperationID(rawValue: 1002), .failure(.cancelled)), waiting: 0)
        stage.request { $0.advertiseSet.data = .init([2, 1, 6]) }
        #expect(stage.submitted.count == 5)
        let ended: [HostCommand] = stage.session.left()
        for operation in [1001, 1003, 1004, 2001] as [UInt64] {
            #expect(ended.contains(.cancel(OperationID(rawValue: operation))))
        }
    }

    @Test("a client knows only its own sets and trains, and transfers them on its own links alone")
    func strangers() {
        var stage = ToolStage()
        let change = stage.request { $0.changeAdvertisingSet.operation = 99 }
        let transfer = stage.request { $0.transferTrain.link = 1 }
        let receive = stage.request { $0.receiveTrains.link = 1 }
        let procedure = stage.request {
            $0.procedure.link = 1
            $0.procedure.readPhy = WireNothing()
        }
        #expect(stage.failures[change] == .cancelled)
        for number in [transfer, receive, procedure] { #expect(stage.failures[number] == .notConnected) }
        #expect(stage.submitted.isEmpty)
        // Events of another's operation are not for it.
        let other = OperationID(rawValue: 5000)
        stage.session.hear(.advertisingSet(other, Self.client, .stopped), waiting: 0)
        stage.session.hear(
            .train(other, Self.client, .lost(advertiser: DeviceAddress(value: 1, kind: .random), identifier: 1)),
            waiting: 0)
        stage.pump()
        #expect(
            stage.sent.allSatisfy {
                if case .completed = $0 { true } else if case .welcome = $0 { true } else { false }
            })
    }

    @Test("eight trains at most, of at most sixteen devices each; reports for a slow client are dropped and counted")
    func trains() throws {
        var stage = ToolStage()
        let advertiser = WireTrainAdvertiser.with {
            $0.address.value = 0xC0DE_0000_0001
            $0.address.kind = 1
            $0.sid = 3
        }
        let long = stage.request { $0.followTrain.advertisers = Array(repeating: advertiser, count: 17) }
        #expect(stage.failures[long] == .limitReached)
        for _ in 0..<10 { stage.request { $0.followTrain.advertisers = [advertiser] } }
        #expect(stage.submitted.count == 8 && stage.failures.count == 3)
        let address = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
        let report = TrainEvent.report(
            TrainReport(
                advertiser: address, identifier: 3, data: [1, 2, 3], isTruncated: false, rssi: -40, txPower: nil,
                time: .zero))
        let operation = OperationID(rawValue: 1002)
        for waiting in [1 << 20, 1 << 18, 0] {
            if waiting > ClientLimits().waitingOctets { continue }
            stage.session.hear(.train(operation, Self.client, report), waiting: waiting)
        }
        stage.pump()
        guard case .train(let told)? = stage.sent.last else {
            Issue.record("no report")
            return
        }
        #expect(told.operation == 2 && told.dropped == 1)
        #expect(try HostEvent(.train(told), for: .local) == .train(OperationID(rawValue: 2), .local, report))
    }

    @Test("the controller can be asked, not changed; what may be about another's link is for operators")
    func questions() {
        var plain = ToolStage()
        let version = plain.request { $0.hciCommand.opcode = 0x1001 }
        let sets = plain.request { $0.hciCommand.opcode = 0x203B }
        let rssi = plain.request {
            $0.hciCommand.opcode = 0x1405
            $0.hciCommand.parameters = .init([0x40, 0])
        }
        let reset = plain.request { $0.hciCommand.opcode = 0x0C03 }
        let channels = plain.request { $0.useChannels = 0x3FF }
        #expect(plain.failures[version] == nil && plain.failures[sets] == nil)
        #expect(plain.failures[rssi] == .notPermitted && plain.failures[channels] == .notPermitted)
        #expect(plain.failures[reset] == .notAvailable && plain.submitted.count == 2)
        var person = ToolStage(isOperator: true)
        let allowed = person.request {
            $0.hciCommand.opcode = 0x1405
            $0.hciCommand.parameters = .init([0x40, 0])
        }
        let vendor = person.request { $0.hciCommand.opcode = 0xFC01 }
        let few = person.request { $0.useChannels = 0x3FF }
        #expect(person.failures[allowed] == nil && person.failures[few] == nil)
        #expect(person.failures[vendor] == .notAvailable && person.submitted.count == 2)
    }

    @Test("requests, results and events of sets, trains and links arrive as they were sent")
    func roundTrips() throws {
        let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 3)
        let address = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
        var set = AdvertisingSetRequest(data: [2, 1, 6])
        set.interval = .milliseconds(33)
        (set.primaryPHY, set.secondaryPHY) = (.leCoded, .leCoded)
        (set.address, set.identifier, set.transmitPower, set.maximumEvents) = (address, 5, -7, 9)
        (set.duration, set.resumesAfterConnection) = (.seconds(3), false)
        set.train = PeriodicTrain(data: [1, 2], interval: .milliseconds(200))
        var train = TrainRequest([.init(address: address, identifier: 5)])
        train.options.skip = 3
        (train.scansCodedPHY, train.resumesAfterLoss) = (true, false)
        var connect = ConnectRequest(peer: address)
        (connect.phys, connect.pace, connect.enhancedBearers) = ([.le1M, .leCoded], .lowPower, 3)
        var scan = ScanRequest()
        (scan.scansCodedPHY, scan.includesUnresolvedTargets) = (true, true)
        scan.acceptList = [address]
        let procedures: [LinkProcedure] = [
            .readRSSI, .readRemoteVersion, .readRemoteFeatures, .setDataLength(octets: 251, microseconds: 2120),
            .readPHY,
            .setPHY(transmit: .le2M, receive: [.le1M, .le2M]),
            .setSubrate(SubrateParameters(minimumFactor: 1, maximumFactor: 4, supervisionTimeout: .milliseconds(4000))),
            .readTransmitPower(phy: .leCodedS2), .readRemoteTransmitPower(phy: .le1M),
            .reportTransmitPower(local: true, remote: false), .monitorPathLoss(zones: nil),
            .monitorPathLoss(zones: PathLossZones(low: 40, high: 60)),
            .monitorPathLoss(zones: PathLossZones(low: 9, high: nil)),
            .setAuthenticatedPayloadTimeout(.seconds(3)),
        ]
        var commands: [HostCommand] = [
            .radio(.advertiseSet(set)), .radio(.changeAdvertisingSet(OperationID(rawValue: 4), set)),
            .radio(.followTrain(train)), .radio(.receiveTrains(link, train.options)), .radio(.connect(connect)),
            .radio(.transferTrain(OperationID(rawValue: 4), to: link, serviceData: 7)), .radio(.scan(scan)),
            .radio(.classifyChannels(.all)),
            .sendHCICommand(opcode: HCIOpcode(rawValue: 0x1001), parameters: [1, 2]),
        ]
        commands += procedures.map { .link(link, .procedure($0)) }
        for command in commands {
            let wire = try #require(WireRequest(command, operation: OperationID(rawValue: 1)))
            #expect(try HostCommand(wire) == command)
        }
        let power = TransmitPower(phy: .le1M, level: -3, maximum: nil, isLeast: false, isGreatest: true)
        let results: [HostResult] = [
            .remoteVersion(RemoteVersion(version: 13, companyIdentifier: 2, subversion: 9)),
            .remoteFeatures(LEFeatures(rawValue: 0x1FF)), .phy(transmit: .le2M, receive: .leCoded),
            .dataLength(
                DataLength(
                    maxTransmitOctets: 251, maxTransmitMicroseconds: 2120, maxReceiveOctets: 27,
                    maxReceiveMicroseconds: 328)),
            .subrate(
                LinkSubrate(factor: 4, continuationNumber: 1, latency: 2, supervisionTimeout: .milliseconds(4000))),
            .transmitPower(power), .hciAnswer([0, 1, 2]),
        ]
        for result in results {
            let told = try WireCompleted(OperationID(rawValue: 1), .success(result)).outcome
            #expect(told == .success(result))
        }
        let faults: [HostFailure.InvalidRequest] = [
            .train, .pathLossZones, .channelMap, .parametersTooLong, .advertisingSet(.tooMuchData),
            .advertisingSet(.train),
        ]
        for fault in faults {
            let told = try WireCompleted(OperationID(rawValue: 1), .failure(.invalidRequest(fault))).outcome
            #expect(told == .failure(.invalidRequest(fault)))
        }
        let events: [HostEvent] = [
            .phyChanged(link, transmit: .le1M, receive: .le2M), .linkReport(link, .unauthenticated),
            .linkReport(link, .transmitPower(power, isPeers: true)),
            .linkReport(link, .transmitPower(power, isPeers: false)),
            .linkReport(link, .pathLoss(PathLoss(zone: .middle, decibels: nil))), .cleartextRefused(link, address),
        ]
        for event in events {
            let wire = try #require(WireFromDaemon(event)?.message)
            #expect(try HostEvent(wire, for: .local) == event)
        }
    }

    @Test("a daemon that does not know lists of devices is not asked for a scan with one")
    func revisionOfLists() {
        var scan = ScanRequest()
        let operation = OperationID(rawValue: 1)
        #expect(WireRequest(.radio(.scan(scan)), operation: operation)?.revision == 0)
        scan.acceptList = [DeviceAddress(value: 1, kind: .random)]
        #expect(WireRequest(.radio(.scan(scan)), operation: operation)?.revision == 2)
        #expect(WireRequest(.radio(.changeScan(operation, scan)), operation: operation)?.revision == 2)
    }

    @Test("a policy for what peripherals ask for crosses the socket, to daemons that know it")
    func parameterPolicies() throws {
        let operation = OperationID(rawValue: 1)
        var connect = ConnectRequest(peer: DeviceAddress(value: 1, kind: .random))
        #expect(WireRequest(.radio(.connect(connect)), operation: operation)?.revision == 0)
        let intervals = ConnectionInterval.milliseconds(15)...ConnectionInterval.milliseconds(50)
        let policies: [ParameterPolicy] = [
            .accept, .reject, .within(intervals, latency: 0),
            .within(
                intervals, latency: 499,
                supervisionTimeout: .milliseconds(2000)...SupervisionTimeout.milliseconds(6000)),
        ]
        for policy in policies {
            connect.parameterPolicy = policy
            let wire = try #require(WireRequest(.radio(.connect(connect)), operation: operation))
            #expect(wire.revision == 3)
            #expect(try HostCommand(wire) == .radio(.connect(connect)))
        }
    }

    @Test("a policy whose bounds are none, or that a later revision has added, is refused")
    func brokenPolicies() {
        let changes: [(inout WireParameterPolicy) -> Void] = [
            { _ in }, { $0.within.minimumInterval = 7 }, { $0.within.maximumInterval = 0x10000 },
            { $0.within.maximumLatency = 0x10000 }, { $0.within.minimumTimeout = 7 },
            { $0.within.maximumTimeout = .max },
        ]
        for change in changes {
            var wire = WireRequest()
            wire.connect = WireConnect(ConnectRequest(peer: DeviceAddress(value: 1, kind: .random)))
            wire.connect.parameterPolicy = WireParameterPolicy()
            change(&wire.connect.parameterPolicy)
            #expect(throws: WireError.invalidField) { try HostCommand(wire) }
        }
    }
}
