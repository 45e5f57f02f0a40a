import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Periodic advertising between simulated controllers.
@Suite("Periodic trains")
struct TrainTests {
    static func events(_ host: HostStation, of operation: OperationID) -> [PeriodicSyncEvent] {
        host.events.compactMap { if case .train(operation, _, let event) = $0 { event } else { nil } }
    }

    static func reports(_ host: HostStation, of operation: OperationID) -> [PeriodicSyncReport] {
        events(host, of: operation).compactMap { if case .report(let report) = $0 { report } else { nil } }
    }

    static func train(_ number: UInt8, count: Int = 8) -> AdvertisingSetRequest {
        var request = AdvertisingSetRequest(data: [2, 1, 6])
        request.identifier = 3
        request.train = PeriodicAdvertising(data: AdvertisingSetTests.data(number, count: count))
        return request
    }

    static func request(
        _ host: HostStation, _ change: (inout PeriodicSyncRequest) -> Void = { _ in }
    ) -> PeriodicSyncRequest {
        var request = PeriodicSyncRequest([.init(address: host.address, identifier: 3)])
        change(&request)
        return request
    }

    @Test("a train of 1,650 octets is found, reported whole, changed and ended")
    func follows() throws {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        var set = Self.train(1, count: 1650)
        let sent = sender.submit(.radio(.advertiseSet(set)))
        let followed = receiver.submit(.radio(.followPeriodicAdvertising(Self.request(sender))))
        #expect(world.run(for: .seconds(10)) { Self.reports(receiver, of: followed).count >= 3 })
        guard case .synchronized(let information)? = Self.events(receiver, of: followed).first else {
            Issue.record("not synchronized")
            return
        }
        #expect(information.advertiser == sender.address && information.identifier == 3)
        #expect(information.interval == .milliseconds(100))
        #expect(Self.reports(receiver, of: followed).allSatisfy { $0.data == set.train?.data && !$0.isTruncated })
        set.train?.data = AdvertisingSetTests.data(2)
        #expect(sender.result(of: .radio(.changeAdvertisingSet(sent, set))) == .success(.done))
        #expect(
            world.run(for: .seconds(20)) { Self.reports(receiver, of: followed).last?.data == set.train?.data })
        receiver.submit(.cancel(followed))
        #expect(receiver.results(of: followed) == [.failure(.cancelled)])
        receiver.forget()
        world.run(for: .seconds(1))
        #expect(receiver.events.isEmpty)
        #expect(sender.air.statistics(of: sender.controller).rejections.isEmpty)
        #expect(receiver.air.statistics(of: receiver.controller).rejections.isEmpty)
    }

    @Test("a train that falls silent is lost after its time-out, and found again when it is back")
    func loses() {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        let sent = sender.submit(.radio(.advertiseSet(Self.train(1))))
        let followed = receiver.submit(
            .radio(.followPeriodicAdvertising(Self.request(sender) { $0.options.timeout = .milliseconds(1000) })))
        #expect(world.run(for: .seconds(10)) { !Self.reports(receiver, of: followed).isEmpty })
        sender.submit(.cancel(sent))
        #expect(
            world.run(for: .seconds(10)) {
                Self.events(receiver, of: followed).last == .lost(advertiser: sender.address, identifier: 3)
            })
        receiver.forget()
        sender.submit(.radio(.advertiseSet(Self.train(2))))
        #expect(world.run(for: .seconds(10)) { !Self.reports(receiver, of: followed).isEmpty })
        #expect(receiver.results(of: followed).isEmpty)
    }

    @Test("a request that does not resume ends with the loss; a search that is cancelled ends at once")
    func ends() {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        let search = receiver.submit(.radio(.followPeriodicAdvertising(Self.request(sender))))
        world.run(for: .seconds(5))
        receiver.submit(.cancel(search))
        #expect(receiver.results(of: search) == [.failure(.cancelled)])
        let sent = sender.submit(.radio(.advertiseSet(Self.train(1))))
        let followed = receiver.submit(
            .radio(
                .followPeriodicAdvertising(
                    Self.request(sender) {
                        $0.options.timeout = .milliseconds(500)
                        $0.resumesAfterLoss = false
                    })))
        #expect(world.run(for: .seconds(10)) { !Self.reports(receiver, of: followed).isEmpty })
        sender.submit(.cancel(sent))
        #expect(world.run(for: .seconds(10)) { receiver.results(of: followed) == [.success(.done)] })
        // Nobody scans or searches any more.
        receiver.forget()
        world.run(for: .seconds(60))
        #expect(receiver.events.isEmpty)
        #expect(receiver.result(of: .stop) == .success(.done))
    }

    @Test("of several advertisers, the list finds the one that is there; two requests follow two trains")
    func byList() {
        let world = World(hosts: 3)
        let receiver = world.hosts[2]
        let absent = DeviceAddress(value: 0xC0DE_0000_0099, kind: .random)
        world.hosts[1].submit(.radio(.advertiseSet(Self.train(5))))
        let any = receiver.submit(
            .radio(
                .followPeriodicAdvertising(
                    PeriodicSyncRequest([
                        .init(address: absent, identifier: 3), .init(address: world.hosts[1].address, identifier: 3),
                    ]))))
        let other = receiver.submit(.radio(.followPeriodicAdvertising(Self.request(world.hosts[0]))))
        #expect(world.run(for: .seconds(10)) { !Self.reports(receiver, of: any).isEmpty })
        world.hosts[0].submit(.radio(.advertiseSet(Self.train(6))))
        #expect(world.run(for: .seconds(10)) { !Self.reports(receiver, of: other).isEmpty })
        #expect(Self.reports(receiver, of: any).allSatisfy { $0.advertiser == world.hosts[1].address })
        #expect(Self.reports(receiver, of: other).allSatisfy { $0.advertiser == world.hosts[0].address })
    }

    @Test("trains that are absent take turns with the one that is there, and are found when they come")
    func turns() {
        let world = World(hosts: 4)
        let receiver = world.hosts[3]
        let absent = [0, 1].map { receiver.submit(.radio(.followPeriodicAdvertising(Self.request(world.hosts[$0])))) }
        world.run(for: .seconds(1))
        world.hosts[2].submit(.radio(.advertiseSet(Self.train(5))))
        let present = receiver.submit(.radio(.followPeriodicAdvertising(Self.request(world.hosts[2]))))
        #expect(world.run(for: .seconds(20)) { !Self.reports(receiver, of: present).isEmpty })
        world.run(for: .seconds(60))
        #expect(absent.allSatisfy { Self.events(receiver, of: $0).isEmpty && receiver.results(of: $0).isEmpty })
        for number in [1, 0] {
            world.hosts[number].submit(.radio(.advertiseSet(Self.train(UInt8(number)))))
            #expect(world.run(for: .seconds(20)) { !Self.reports(receiver, of: absent[number]).isEmpty })
        }
        #expect(receiver.air.statistics(of: receiver.controller).rejections.isEmpty)
        // One alone is looked for without a break.
        for operation in absent + [present] { receiver.submit(.cancel(operation)) }
        let alone = receiver.submit(
            .radio(
                .followPeriodicAdvertising(
                    PeriodicSyncRequest([.init(address: AdvertisingSetTests.one, identifier: 3)]))))
        world.run(for: .seconds(60))
        #expect(receiver.air.statistics(of: receiver.controller).rejections.isEmpty)
        receiver.submit(.cancel(alone))
        #expect(receiver.results(of: alone) == [.failure(.cancelled)])
    }

    @Test("skipped packets are not reported, equal data only once where the train says what is new")
    func skips() {
        func reports(_ change: (inout PeriodicSyncRequest) -> Void, includesInformation: Bool = false) -> Int {
            let world = World(hosts: 2)
            var set = Self.train(1)
            set.train?.includesDataInformation = includesInformation
            world.hosts[0].submit(.radio(.advertiseSet(set)))
            let followed = world.hosts[1].submit(
                .radio(.followPeriodicAdvertising(Self.request(world.hosts[0], change))))
            world.run(for: .seconds(10))
            return Self.reports(world.hosts[1], of: followed).count
        }
        #expect(reports { _ in } >= 90)
        #expect(9...11 ~= reports { $0.options.skip = 9 })
        #expect(reports({ $0.options.reportsOnlyChanges = true }, includesInformation: true) == 1)
    }

    @Test("a train is transferred over a link by its receiver and by its sender, and outlives the link")
    func transfers() throws {
        let world = World(hosts: 3)
        let (sender, helper, watch) = (world.hosts[0], world.hosts[1], world.hosts[2])
        let sent = sender.submit(.radio(.advertiseSet(Self.train(7))))
        let followed = helper.submit(.radio(.followPeriodicAdvertising(Self.request(sender))))
        #expect(world.run(for: .seconds(10)) { !Self.reports(helper, of: followed).isEmpty })
        watch.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Watch", serviceUUIDs: [])))))
        let link = try #require(helper.connect(watch.address))
        let central = try #require(watch.centrals.first)
        let received = watch.submit(.radio(.receivePeriodicSyncs(central.id, PeriodicSyncSettings())))
        #expect(
            helper.result(of: .radio(.transferPeriodicSync(followed, to: link, serviceData: 0x1234))) == .success(.done)
        )
        #expect(world.run(for: .seconds(10)) { Self.reports(watch, of: received).count >= 2 })
        guard case .synchronized(let information)? = Self.events(watch, of: received).first else {
            Issue.record("not synchronized")
            return
        }
        #expect(information.serviceData == 0x1234 && information.advertiser == sender.address)
        #expect(helper.result(of: .link(link, .disconnect)) == .success(.done))
        watch.forget()
        #expect(world.run(for: .seconds(10)) { Self.reports(watch, of: received).count >= 2 })
        watch.submit(.cancel(received))
        // The sender's own set, too.
        sender.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Sender", serviceUUIDs: [])))))
        let direct = try #require(watch.connect(sender.address))
        let again = watch.submit(.radio(.receivePeriodicSyncs(direct, PeriodicSyncSettings())))
        let toWatch = try #require(sender.centrals.last)
        #expect(
            sender.result(of: .radio(.transferPeriodicSync(sent, to: toWatch.id, serviceData: 1))) == .success(.done))
        #expect(world.run(for: .seconds(10)) { !Self.reports(watch, of: again).isEmpty })
    }

    @Test("a receiver of transfers ends with its link if it follows nothing")
    func linkEnds() throws {
        let world = World(hosts: 2)
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        peripheral.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        let link = try #require(central.connect(peripheral.address))
        let receiving = central.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        let twice = central.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        #expect(central.results(of: twice).isEmpty)
        #expect(central.result(of: .link(link, .disconnect)) == .success(.done))
        for operation in [receiving, twice] {
            guard case .failure(.linkLost)? = central.results(of: operation).first else {
                Issue.record("\(central.results(of: operation))")
                return
            }
        }
        #expect(
            central.result(of: .radio(.transferPeriodicSync(receiving, to: link, serviceData: 0)))
                == .failure(.notConnected))
    }

    @Test(
        "several clients take the trains of one link: each gets them all, and one that ends leaves them to the others")
    func severalReceivers() throws {
        let world = World(hosts: 2)
        let (sender, watch) = (world.hosts[0], world.hosts[1])
        let sent = sender.submit(.radio(.advertiseSet(Self.train(7))))
        sender.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Sender", serviceUUIDs: [])))))
        let link = try #require(watch.connect(sender.address))
        var seldom = PeriodicSyncSettings()
        seldom.skip = 4
        seldom.reportsOnlyChanges = true
        let first = watch.submit(.radio(.receivePeriodicSyncs(link, seldom)))
        let second = watch.submit(
            .radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())), from: ClientID(rawValue: 9))
        let toWatch = try #require(sender.centrals.last)
        #expect(
            sender.result(of: .radio(.transferPeriodicSync(sent, to: toWatch.id, serviceData: 5))) == .success(.done))
        // The one that wants less does not keep packets from the other.
        #expect(world.run(for: .seconds(10)) { Self.reports(watch, of: second).count >= 20 })
        for operation in [first, second] {
            guard case .synchronized(let information)? = Self.events(watch, of: operation).first else {
                Issue.record("not synchronized")
                return
            }
            #expect(information.serviceData == 5)
        }
        watch.submit(.cancel(second))
        watch.forget()
        #expect(world.run(for: .seconds(10)) { Self.reports(watch, of: first).count >= 2 })
        #expect(Self.reports(watch, of: second).isEmpty)
        watch.submit(.cancel(first))
        watch.forget()
        world.run(for: .seconds(5))
        #expect(Self.reports(watch, of: first).isEmpty)
    }

    @Test("the controller is told what satisfies all who take the trains of a link, and again when one of them ends")
    func joinedReceivers() {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising, .periodicAdvertising]
        rig.start()
        let link = rig.connect()
        func options(skip: UInt16, timeout: Double, onlyChanges: Bool) -> PeriodicSyncSettings {
            var options = PeriodicSyncSettings()
            options.skip = skip
            options.timeout = .milliseconds(timeout)
            options.reportsOnlyChanges = onlyChanges
            return options
        }
        func told() -> [[UInt8]] {
            defer { rig.forget() }
            return rig.commands.filter { $0.opcode == LESetPeriodicAdvertisingSyncTransferParameters.opcode }
                .map { Array($0.parameters[2...6]) }
        }
        rig.forget()
        rig.submit(.radio(.receivePeriodicSyncs(link, options(skip: 9, timeout: 1000, onlyChanges: true))))
        #expect(told() == [[3, 9, 0, 100, 0]])
        let other = rig.submit(.radio(.receivePeriodicSyncs(link, options(skip: 2, timeout: 5000, onlyChanges: false))))
        #expect(told() == [[2, 2, 0, 244, 1]])
        let same = rig.submit(.radio(.receivePeriodicSyncs(link, options(skip: 3, timeout: 1000, onlyChanges: true))))
        #expect(told() == [[2, 2, 0, 244, 1]])
        rig.submit(.cancel(same))
        #expect(told().isEmpty)
        rig.submit(.cancel(other))
        #expect(told() == [[3, 9, 0, 100, 0]])
    }

    @Test("a controller without periodic advertising refuses, once")
    func unsupported() {
        let world = World(hosts: 1) { configuration, _ in configuration = .core42(publicAddress: World.address(0)) }
        let host = world.hosts[0]
        let request = PeriodicSyncRequest([.init(address: AdvertisingSetTests.one, identifier: 0)])
        guard
            case .failure(.controller(_, LEPeriodicAdvertisingCreateSync.opcode))? = host.result(
                of: .radio(.followPeriodicAdvertising(request)))
        else {
            Issue.record("it was not refused")
            return
        }
        #expect(
            host.result(of: .radio(.followPeriodicAdvertising(PeriodicSyncRequest([]))))
                == .failure(.invalidRequest(.train)))
    }

    @Test("reports that never end, of unknown trains and with reserved states harm nothing and need no memory")
    func hostileReports() {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising, .periodicAdvertising]
        rig.start()
        let handle = SynchronizationHandle(rawValue: 5)
        let operation = rig.submit(
            .radio(.followPeriodicAdvertising(PeriodicSyncRequest([.init(address: HostRig.peer, identifier: 1)]))))
        rig.receive(
            LEPeriodicAdvertisingSyncEstablished(
                synchronizationHandle: handle, advertisingSetIdentifier: 1, advertiserAddress: HostRig.peer,
                advertiserPHY: .le1M, interval: .milliseconds(100),
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
        let piece = [UInt8](repeating: 7, count: 247)
        func report(_ data: [UInt8], _ status: AdvertisingDataStatus, of handle: SynchronizationHandle = handle) {
            rig.receive(
                LEPeriodicAdvertisingReport(synchronizationHandle: handle, dataStatus: status, data: data))
        }
        for _ in 0..<10_000 { report(piece, .incompleteMoreToCome) }
        report(piece, .complete)
        report(piece, .complete, of: SynchronizationHandle(rawValue: 99))
        // The next one is whole again.
        report([1, 2], .incompleteMoreToCome)
        report([3], .complete)
        report([4], .incompleteTruncated)
        let reports = rig.events.compactMap { event -> PeriodicSyncReport? in
            if case .train(operation, _, .report(let report)) = event { report } else { nil }
        }
        #expect(reports.map(\.data) == [[1, 2, 3], [4]])
        #expect(reports.map(\.isTruncated) == [false, true])
        // A train that nobody asked for is ended.
        rig.forget()
        rig.receive(
            LEPeriodicAdvertisingSyncEstablished(
                synchronizationHandle: SynchronizationHandle(rawValue: 6), advertisingSetIdentifier: 1,
                advertiserAddress: HostRig.peer, advertiserPHY: .le1M, interval: .milliseconds(100),
                advertiserClockAccuracy: ClockAccuracy(rawValue: 0)))
        #expect(rig.commands.map(\.opcode) == [LEPeriodicAdvertisingTerminateSync.opcode])
    }

    @Test("loss at random delays reports and loses none of the operations", arguments: [UInt64(1), 2, 3])
    func losses(seed: UInt64) {
        let world = World(SimulatedAir(seed: seed, configuration: SimulatedAirConfiguration(lossPerMille: 300)))
        for _ in 0..<2 {
            var controller = SimulatedControllerConfiguration()
            controller.publicAddress = World.address(world.stations.count)
            _ = HostStation(world, controller: controller)
        }
        world.start()
        world.hosts[0].submit(.radio(.advertiseSet(Self.train(1, count: 700))))
        let followed = world.hosts[1].submit(.radio(.followPeriodicAdvertising(Self.request(world.hosts[0]))))
        world.run(for: .seconds(30))
        let count = Self.reports(world.hosts[1], of: followed).count
        #expect(150...250 ~= count, "\(count)")
        #expect(world.hosts[1].results(of: followed).isEmpty)
    }

    @Test("a train is followed although the clocks of both sides drift", arguments: [UInt64(1), 2, 3])
    func drift(seed: UInt64) {
        let air = SimulatedAir(seed: seed, configuration: SimulatedAirConfiguration(clockDriftPartsPerMillion: 500))
        let world = World(air)
        for _ in 0..<2 {
            var controller = SimulatedControllerConfiguration()
            controller.publicAddress = World.address(world.stations.count)
            _ = HostStation(world, controller: controller)
        }
        world.start()
        world.hosts[0].submit(.radio(.advertiseSet(Self.train(1, count: 700))))
        let followed = world.hosts[1].submit(.radio(.followPeriodicAdvertising(Self.request(world.hosts[0]))))
        world.run(for: .seconds(600))
        let count = Self.reports(world.hosts[1], of: followed).count
        #expect(5990...6003 ~= count, "\(count)")
        #expect(world.hosts[1].results(of: followed).isEmpty)
    }
}
