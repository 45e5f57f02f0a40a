import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Trains beside everything else that the radio does, and controllers that answer late or never.
@Suite("Trains among other activities")
struct TrainOddsTests {
    private static let absent = PeriodicSyncRequest([.init(address: AdvertisingSetTests.one, identifier: 3)])
    private static let create = LEPeriodicAdvertisingCreateSync.opcode
    private static let cancel = LEPeriodicAdvertisingCreateSyncCancel.opcode

    private func rig(_ features: LEFeatures = [.encryption, .extendedAdvertising, .periodicAdvertising]) -> HostRig {
        let rig = HostRig()
        rig.features = features
        rig.start()
        rig.forget()
        return rig
    }

    private func request(_ number: Int) -> PeriodicSyncRequest {
        PeriodicSyncRequest([.init(address: HostRig.peer(number), identifier: UInt8(number))])
    }

    private func established(_ number: Int, handle: UInt16) -> LEPeriodicAdvertisingSyncEstablished {
        LEPeriodicAdvertisingSyncEstablished(
            synchronizationHandle: SynchronizationHandle(rawValue: handle), advertisingSetIdentifier: UInt8(number),
            advertiserAddress: HostRig.peer(number), advertiserPHY: .le1M, interval: .milliseconds(100),
            advertiserClockAccuracy: ClockAccuracy(rawValue: 0))
    }

    private func events(_ rig: HostRig, of operation: OperationID) -> [PeriodicSyncEvent] {
        rig.events.compactMap { if case .train(operation, _, let event) = $0 { event } else { nil } }
    }

    // MARK: The radio's pauses

    @Test("an absent train stops neither changes of the private address nor what goes on beside it")
    func addressChanges() {
        let world = PrivateWorldTests.world([.extended, .extended], friends: [])
        let (host, scanner) = (world.hosts[0], world.hosts[1])
        host.submit(.radio(.advertise(PrivateWorldTests.open)))
        let search = host.submit(.radio(.followPeriodicAdvertising(Self.absent)))
        scanner.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(200))
        // A new address each minute.
        #expect(Set(scanner.discoveries.map(\.address)).count >= 3)
        scanner.forget()
        world.run(for: .seconds(70))
        #expect(!scanner.discoveries.isEmpty)
        #expect(host.results(of: search).isEmpty)
        PrivateWorldTests.expectNoRefusal(world)
    }

    @Test("a train that is asked for while the resolving list is written does not keep the list from the bonds")
    func resolvingList() {
        let world = PrivateWorldTests.world([.extended, .extended])
        let (host, friend) = (world.hosts[0], world.hosts[1])
        let search = host.submit(.radio(.followPeriodicAdvertising(Self.absent)))
        host.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        friend.submit(.radio(.advertise(PrivateWorldTests.open)))
        #expect(
            world.run(for: .seconds(30)) {
                host.discoveries.contains { $0.address?.withoutIdentityMark == PrivateWorldTests.identity(1) }
            })
        // A change of the list while the train is looked for.
        host.submit(.security(.restoreBonds([PrivateWorldTests.bond(1, with: 0), PrivateWorldTests.bond(2, with: 0)])))
        host.forget()
        world.run(for: .seconds(30))
        #expect(!host.discoveries.isEmpty)
        #expect(host.results(of: search).isEmpty)
        PrivateWorldTests.expectNoRefusal(world)
        // The train is still found when it comes.
        var set = TrainTests.train(1)
        set.address = AdvertisingSetTests.one
        friend.submit(.radio(.advertiseSet(set)))
        #expect(world.run(for: .seconds(60)) { !TrainTests.reports(host, of: search).isEmpty })
    }

    @Test("a train and its set outlive new private addresses; the set without an address of its own gets each new one")
    func setsOutlivePauses() {
        let world = PrivateWorldTests.world([.extended, .extended], friends: [])
        let (host, scanner) = (world.hosts[0], world.hosts[1])
        var set = TrainTests.train(1)
        set.address = AdvertisingSetTests.one
        let sent = host.submit(.radio(.advertiseSet(set)))
        host.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: AdvertisingSetTests.data(5)))))
        let followed = scanner.submit(.radio(.followPeriodicAdvertising(Self.absent)))
        scanner.submit(.radio(.scan(ScanRequest())))
        #expect(world.run(for: .seconds(20)) { !TrainTests.reports(scanner, of: followed).isEmpty })
        var removals = 0
        host.change = { packet in
            let opcode = packet.count > 2 ? UInt16(packet[1]) | UInt16(packet[2]) << 8 : 0
            if packet.first == 1, opcode == LERemoveAdvertisingSet.opcode.rawValue { removals += 1 }
            return packet
        }
        world.run(for: .seconds(300))
        #expect(removals == 0)
        #expect(
            !TrainTests.events(scanner, of: followed).contains {
                if case .lost = $0 { true } else { false }
            })
        #expect(TrainTests.reports(scanner, of: followed).count > 2800)
        let addresses = scanner.discoveries.filter { $0.advertisement == AdvertisingSetTests.data(5) }.map(\.address)
        #expect(Set(addresses).count >= 4)
        #expect(AdvertisingSetTests.events(host, of: sent).last == .started(transmitPower: 0))
        PrivateWorldTests.expectNoRefusal(world)
    }

    // MARK: Answers and events that cross

    @Test("the late answer to a cancellation does not end the next attempt, which keeps its own train")
    func lateAnswer() {
        let rig = rig()
        let first = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        rig.answers[Self.cancel] = .silence
        rig.submit(.cancel(first))
        #expect(rig.count(of: Self.cancel) == 1)
        let second = rig.submit(.radio(.followPeriodicAdvertising(request(2))))
        // The first train was found at the last moment.
        rig.receive(established(1, handle: 1))
        rig.receive(CommandComplete(opcode: Self.cancel, returnParameters: [HCIStatus.commandDisallowed.rawValue]))
        #expect(rig.results(of: second).isEmpty)
        #expect(rig.count(of: Self.create) == 2)
        // It is late once more, and is not the train of the second.
        rig.receive(established(1, handle: 1))
        #expect(events(rig, of: second).isEmpty)
        rig.receive(established(2, handle: 2))
        guard case .synchronized(let train)? = events(rig, of: second).first else {
            Issue.record("\(rig.events)")
            return
        }
        #expect(train.advertiser == HostRig.peer(2))
    }

    @Test("a cancellation whose end is never reported keeps nobody waiting for ever")
    func silentCancellation() {
        let rig = rig()
        rig.submit(.cancel(rig.submit(.radio(.followPeriodicAdvertising(request(1))))))
        let second = rig.submit(.radio(.followPeriodicAdvertising(request(2))))
        rig.advance(by: .seconds(1))
        #expect(rig.count(of: Self.cancel) == 1 && rig.count(of: Self.create) == 1)
        rig.advance(by: .seconds(5))
        #expect(rig.count(of: Self.create) == 2)
        // The end of the first, at last.
        var late = established(1, handle: 0)
        late.status = .operationCancelledByHost
        rig.receive(late)
        #expect(rig.results(of: second).isEmpty)
        rig.receive(established(2, handle: 2))
        #expect(events(rig, of: second).count == 1)
    }

    @Test("the reset of the controller ends the receiver of a link that is gone, once")
    func resetEndsReceiver() throws {
        let world = World(hosts: 2)
        let (sender, watch) = (world.hosts[0], world.hosts[1])
        let sent = sender.submit(.radio(.advertiseSet(TrainTests.train(7))))
        sender.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Sender", serviceUUIDs: [])))))
        let link = try #require(watch.connect(sender.address))
        let received = watch.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        let toWatch = try #require(sender.centrals.last)
        #expect(
            sender.result(of: .radio(.transferPeriodicSync(sent, to: toWatch.id, serviceData: 1))) == .success(.done))
        #expect(world.run(for: .seconds(10)) { !TrainTests.reports(watch, of: received).isEmpty })
        watch.air.sendHardwareError(1, from: watch.controller)
        world.run(for: .seconds(10))
        #expect(watch.results(of: received) == [.failure(.controllerLost)])
        guard case .lost? = TrainTests.events(watch, of: received).last else {
            Issue.record("the loss was not reported")
            return
        }
    }

    @Test("two clients follow one train: each gets all reports, and it is followed until the last one has gone")
    func shares() {
        let rig = rig()
        let first = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        let early = rig.submit(.radio(.followPeriodicAdvertising(request(1))), from: ClientID(rawValue: 2))
        rig.receive(established(1, handle: 9))
        let handle = SynchronizationHandle(rawValue: 9)
        rig.receive(
            LEPeriodicAdvertisingReport(
                synchronizationHandle: handle, dataStatus: .incompleteMoreToCome, data: [1]))
        // It joins in the middle of a report, and gets the whole of it.
        let late = rig.submit(.radio(.followPeriodicAdvertising(request(1))), from: ClientID(rawValue: 3))
        rig.receive(LEPeriodicAdvertisingReport(synchronizationHandle: handle, dataStatus: .complete, data: [2]))
        for operation in [first, early, late] {
            #expect(rig.results(of: operation).isEmpty)
            #expect(events(rig, of: operation).count == 2)
            guard case .report(let report)? = events(rig, of: operation).last else {
                Issue.record("no report")
                continue
            }
            #expect(report.data == [1, 2])
        }
        #expect(rig.count(of: Self.create) == 1)
        let terminate = LEPeriodicAdvertisingTerminateSync.opcode
        rig.submit(.cancel(first))
        rig.submit(.cancel(late))
        #expect(rig.count(of: terminate) == 0)
        rig.receive(LEPeriodicAdvertisingSyncLost(synchronizationHandle: handle))
        guard case .lost? = events(rig, of: early).last else {
            Issue.record("the loss was not reported")
            return
        }
        // It is looked for again, and ends with the last client.
        #expect(rig.count(of: Self.create) == 2)
        rig.receive(established(1, handle: 10))
        rig.submit(.cancel(early))
        #expect(rig.count(of: terminate) == 1)
        #expect([first, early, late].allSatisfy { rig.results(of: $0) == [.failure(.cancelled)] })
    }

    @Test("a receiver of transfers that the controller refuses ends the trains that it alone follows")
    func refusedReceiver() {
        let rig = rig()
        let link = rig.connect(HostRig.peer(5))
        let opcode = LESetPeriodicAdvertisingSyncTransferParameters.opcode
        let terminate = LEPeriodicAdvertisingTerminateSync.opcode
        let first = rig.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        rig.answers[opcode] = .silence
        let second = rig.submit(
            .radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())), from: ClientID(rawValue: 2))
        rig.receive(
            LEPeriodicAdvertisingSyncTransferReceived(
                connectionHandle: link.handle, serviceData: 0,
                synchronizationHandle: SynchronizationHandle(rawValue: 9), advertisingSetIdentifier: 1,
                advertiserAddress: HostRig.peer(1), advertiserPHY: .le1M, interval: .milliseconds(100),
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
        #expect(events(rig, of: second).count == 1)
        rig.submit(.cancel(first))
        #expect(rig.count(of: terminate) == 0)
        rig.answers[opcode] = nil
        let status = HCIStatus.memoryCapacityExceeded
        rig.receive(CommandComplete(opcode: opcode, returnParameters: [status.rawValue]))
        #expect(rig.results(of: second) == [.failure(.controller(status, opcode))])
        #expect(rig.count(of: terminate) == 1)
        // Nobody takes what this peer transfers.
        let mode = rig.commands.last { $0.opcode == opcode }?.parameters[2]
        #expect(mode == PeriodicSyncTransferMode.ignore.rawValue)
    }

    @Test("trains that nobody wants are ended, in bounded memory however many a controller reports")
    func unwantedTrains() {
        let rig = rig()
        let terminate = LEPeriodicAdvertisingTerminateSync.opcode
        rig.answers[terminate] = .silence
        for handle in 0..<2000 as Range<UInt16> { rig.receive(established(1, handle: handle)) }
        rig.answers[terminate] = nil
        rig.advance(by: .seconds(10))
        #expect(1...40 ~= rig.count(of: terminate))
        rig.forget()
        rig.receive(established(1, handle: 7))
        #expect(rig.count(of: terminate) == 1)
    }

    @Test("clients take turns in looking for absent trains, however many requests each of them has")
    func clientsTakeTurns() {
        let rig = rig()
        let (greedy, modest) = (ClientID(rawValue: 1), ClientID(rawValue: 2))
        for number in 1...6 { _ = rig.submit(.radio(.followPeriodicAdvertising(request(number))), from: greedy) }
        let wanted = rig.submit(.radio(.followPeriodicAdvertising(request(9))), from: modest)
        var cancelled = established(0, handle: 0)
        cancelled.status = .operationCancelledByHost
        for _ in 0..<7 {
            rig.advance(by: TrainTable.turn)
            rig.receive(cancelled)
        }
        let identifiers = rig.commands.filter { $0.opcode == Self.create }.map { $0.parameters[1] }
        #expect(identifiers == [1, 9, 2, 9, 3, 9, 4, 9])
        rig.receive(established(9, handle: 9))
        #expect(events(rig, of: wanted).count == 1)
    }

    @Test("users take turns in looking for absent trains, however many clients each of them has")
    func usersTakeTurns() {
        let rig = rig()
        let (greedy, modest) = ((1...6).map { ClientID(rawValue: $0) }, ClientID(rawValue: 9))
        for client in greedy { rig.apply(.user(ClientUser(1000), client)) }
        rig.apply(.user(ClientUser(1001), modest))
        for (number, client) in greedy.enumerated() {
            _ = rig.submit(.radio(.followPeriodicAdvertising(request(number + 1))), from: client)
        }
        _ = rig.submit(.radio(.followPeriodicAdvertising(request(9))), from: modest)
        var cancelled = established(0, handle: 0)
        cancelled.status = .operationCancelledByHost
        for _ in 0..<7 {
            rig.advance(by: TrainTable.turn)
            rig.receive(cancelled)
        }
        let identifiers = rig.commands.filter { $0.opcode == Self.create }.map { $0.parameters[1] }
        #expect(identifiers == [1, 9, 2, 9, 3, 9, 4, 9])
    }

    // MARK: Controllers that refuse or do not answer

    @Test("commands for sets and trains that are never answered end what they are for, and reset nothing")
    func unanswered() {
        let rig = rig()
        let number = LEReadNumberOfSupportedAdvertisingSets.opcode
        let enable = LESetExtendedAdvertisingEnable.opcode
        for opcode in [number, LEReadMaximumAdvertisingDataLength.opcode, Self.create, enable] {
            rig.answers[opcode] = .silence
        }
        // With a device nearby, so that the scan is not taken for a broken one.
        func wait() {
            for _ in 0..<5 {
                rig.advance(by: .seconds(6))
                rig.receive(HostRig.report(HostRig.peer(7)))
            }
        }
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        let set = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        wait()
        #expect(rig.results(of: set) == [.failure(.commandTimeout(enable))])
        let follow = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        wait()
        #expect(rig.results(of: follow) == [.failure(.commandTimeout(Self.create))])
        #expect(rig.counters.controllerResets == 0 && rig.isReady && rig.results(of: scan).isEmpty)
        // What was swallowed once may work the next time.
        rig.answers.removeAll()
        let again = rig.submit(.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6]))))
        let found = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        rig.advance(by: .seconds(5))
        rig.receive(established(1, handle: 1))
        #expect(rig.results(of: again).isEmpty && events(rig, of: found).count == 1)
    }

    @Test("a train that cannot be found because the controller refuses to scan fails with that refusal")
    func refusedScan() {
        let rig = rig()
        let parameters = LESetExtendedScanParameters.opcode
        rig.answers[parameters] = .complete([HCIStatus.unsupportedFeatureOrParameterValue.rawValue])
        let follow = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        rig.advance(by: .seconds(5))
        #expect(rig.results(of: follow).count == 1)
        guard case .failure(.controller(.unsupportedFeatureOrParameterValue, _))? = rig.results(of: follow).first else {
            Issue.record("\(rig.results(of: follow))")
            return
        }
    }

    @Test("a transfer that waits for its turn ends with its link, and does not reach the next one")
    func queuedTransfer() {
        let rig = rig([
            .encryption, .extendedAdvertising, .periodicAdvertising, .periodicAdvertisingSyncTransferSender,
        ])
        let follow = rig.submit(.radio(.followPeriodicAdvertising(request(1))))
        rig.receive(established(1, handle: 1))
        let link = rig.connect(HostRig.peer(5))
        #expect(rig.results(of: follow).isEmpty)
        rig.answers[ReadRSSI.opcode] = .silence
        rig.submit(.link(link, .procedure(.readRSSI)))
        let transfer = rig.submit(.radio(.transferPeriodicSync(follow, to: link, serviceData: 0)))
        let opcode = LEPeriodicAdvertisingSyncTransfer.opcode
        #expect(rig.count(of: opcode) == 0)
        rig.receive(DisconnectionComplete(connectionHandle: link.handle, reason: .connectionTimeout))
        #expect(rig.results(of: transfer) == [.failure(.notConnected)])
        rig.advance(by: .seconds(5))
        #expect(rig.count(of: opcode) == 0)
    }
}
