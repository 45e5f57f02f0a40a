import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("The scenarios of appendix B that speak of processes")
struct AppendixBTests {
    private static let one = "org.example.one", two = "org.example.two"
    private static let central = ["bluetooth-central"]

    /// A daemon with two installed apps, and a sensor that comes and goes.
    private final class Stage {
        let daemon: VirtualDaemon
        let sensor: SimulatedDeviceID

        init(_ wishes: [Wish], modes: [String] = AppendixBTests.central) {
            let names = [AppendixBTests.one, AppendixBTests.two]
            daemon = VirtualDaemon(apps: names.map { Manifest($0, modes: modes) })
            sensor = daemon.world.air.addPeripheral(.jellingHeart)
            for (name, wish) in zip(names, wishes) { daemon.wishes[AppID(rawValue: name)] = wish }
            go()
        }

        func come() { daemon.world.air.setInRange(true, sensor) }

        /// It says goodbye: links end.
        func go() {
            daemon.world.air.disconnect(sensor)
            daemon.world.air.setInRange(false, sensor)
            daemon.world.run(for: .milliseconds(10))
        }

        func run(_ span: Microseconds = .seconds(60), until isDone: () -> Bool) -> Bool {
            daemon.world.run(for: span, until: isDone)
        }

        /// The apps whose connections are wanted.
        var wanted: [String] {
            daemon.status.adapters[0].wanted.compactMap { if case .connect = $0.work { $0.client } else { nil } }
        }

        /// Whether each app's scan is one in the background, by app; without those that do not scan.
        var scans: [String: Bool] {
            var scans: [String: Bool] = [:]
            for wanted in daemon.status.adapters[0].wanted {
                if case .scan(let scan) = wanted.work { scans[wanted.client] = scan.isInBackground }
            }
            return scans
        }

        /// How many events wait for a connected app.
        func waiting(_ name: String) -> Int {
            daemon.status.clients.filter { $0.name == name }.reduce(0) { $0 + $1.waitingEvents }
        }
    }

    @Test(
        "two scanning apps: one in the foreground gets every packet, one in the background each device once, whatever it asked for (scenario 2)"
    )
    func everyPacketOrOnce() throws {
        var wish = Wish()
        (wish.scan, wish.allowsDuplicates) = ([.heartRate], true)
        let stage = Stage([wish, wish])
        stage.come()
        let (one, two) = (try stage.daemon.launch(Self.one), try stage.daemon.launch(Self.two))
        #expect(stage.run { one.found.count >= 3 && two.found.count >= 3 })
        #expect(stage.scans == [Self.one: false, Self.two: false])
        stage.daemon.suspend(Self.one)
        #expect(stage.scans == [Self.one: true, Self.two: false])
        let before = (one.found.count, two.found.count)
        #expect(stage.run { two.found.count >= before.1 + 8 })
        // Its scan began again when it left, so it may find each device once more.
        #expect(one.found.count <= before.0 + Set(one.found).count)
        stage.daemon.suspend(Self.two)
        #expect(stage.scans == [Self.one: true, Self.two: true])
    }

    @Test(
        "an app that scans for everything finds nothing in the background; one that names a service is woken for it (scenario 3)"
    )
    func namedService() throws {
        var (everything, named) = (Wish(), Wish())
        (everything.scan, named.scan) = ([], [.heartRate])
        let stage = Stage([everything, named])
        let (one, two) = (try stage.daemon.launch(Self.one), try stage.daemon.launch(Self.two))
        #expect(stage.run { stage.scans == [Self.one: false, Self.two: false] })
        for name in [Self.one, Self.two] { stage.daemon.suspend(name) }
        #expect(stage.scans == [Self.two: true])
        stage.come()
        #expect(stage.run { !two.found.isEmpty })
        #expect(one.found.isEmpty && one.isStopped)
        stage.daemon.operate(.foreground(Self.one))
        #expect(stage.run { !one.found.isEmpty } && !one.isStopped)
    }

    @Test(
        "a suspended app without modes gets nothing, then all of it in order; its alerts go to the app that was in the foreground last (scenarios 4, 5)"
    )
    func suspendedWithoutModes() throws {
        var wish = Wish.follower()
        wish.connect = ConnectOptions(
            notifiesOnConnection: true, notifiesOnDisconnection: true, notifiesOnNotification: true)
        let stage = Stage([wish, wish], modes: [])
        let (two, one) = (try stage.daemon.launch(Self.two), try stage.daemon.launch(Self.one))
        stage.come()
        #expect(stage.run { !one.values.isEmpty && !two.values.isEmpty })
        for name in [Self.two, Self.one] { stage.daemon.suspend(name) }
        #expect(stage.run { one.isStopped && two.isStopped })
        let before = (one.events.count, two.events.count)
        #expect(stage.run { min(stage.waiting(Self.one), stage.waiting(Self.two)) >= 3 })
        stage.go()
        #expect(stage.run { stage.daemon.status.adapters[0].links.isEmpty })
        #expect(one.isStopped && two.isStopped)
        #expect((one.events.count, two.events.count) == before)
        let alerts = try #require(stage.daemon.operate(.alerts)?.alerts)
        // It was connected while it was in the foreground.
        #expect(Set(alerts.map(\.alert.app.rawValue)) == [Self.one])
        #expect(Set(alerts.map(\.alert.kind)) == [.disconnection, .notification])
        stage.daemon.operate(.foreground(Self.one))
        #expect(stage.run { !one.disconnections.isEmpty })
        let rest = one.events.dropFirst(before.0).map(\.event)
        #expect(rest.count >= 4)
        if case .disconnected? = rest.last {} else { Issue.record("the end does not come last") }
        for event in rest.dropLast() {
            if case .peripheral(_, .valueUpdated) = event {} else { Issue.record("\(event)") }
        }
    }

    @Test(
        "the wish for an absent device outlives the app and bled; without a restore identifier or after a force quit nothing is launched (scenarios 6, 7, 8)"
    )
    func wishForAbsentDevice() throws {
        var (one, two) = (Wish.follower(restore: "r"), Wish.follower())
        (one.again, two.again) = (true, true)
        let stage = Stage([one, two])
        let daemon = stage.daemon
        stage.come()
        let first = try daemon.launch(Self.one)
        let other = try daemon.launch(Self.two)
        #expect(stage.run { !first.values.isEmpty && !other.values.isEmpty })
        stage.go()
        #expect(stage.run { stage.wanted.sorted() == [Self.one, Self.two] })
        // Both run: the wish has no end.
        daemon.world.run(for: .seconds(600))
        stage.come()
        #expect(stage.run { first.connections == 2 && other.connections == 2 })
        stage.go()
        #expect(stage.run { stage.wanted.sorted() == [Self.one, Self.two] })
        for name in [Self.one, Self.two] { daemon.suspend(name) }
        first.end(.signalled(9))
        other.end(.signalled(9))
        // Nothing stays for the one without identifier.
        #expect(stage.run { stage.wanted == [Self.one] })
        stage.come()
        try launched(stage, 2)
        daemon.suspend(Self.one)
        // The same across a daemon that is killed, as by a restart of the machine.
        stage.go()
        #expect(stage.run { stage.wanted == [Self.one] })
        daemon.restart()
        #expect(stage.run { stage.wanted == [Self.one] })
        #expect(daemon.process(of: Self.one) == nil)
        stage.come()
        try launched(stage, 3)
        daemon.operate(.quit(Self.one))
        daemon.world.run(for: .seconds(5))
        #expect(stage.wanted.isEmpty && daemon.status.adapters[0].links.isEmpty)
        stage.go()
        stage.come()
        daemon.world.run(for: .seconds(60))
        #expect(daemon.launched.count { $0.id.rawValue == Self.two } == 1)
        #expect(daemon.launched.count { $0.id.rawValue == Self.one } == 3)
    }

    /// The app was launched for its manager, and gets its events in the order of Apple's system.
    private func launched(_ stage: Stage, _ count: Int) throws {
        let name = AppID(rawValue: Self.one)
        #expect(stage.run { stage.daemon.launched.count { $0.id == name } == count })
        let app = try #require(stage.daemon.process(of: Self.one))
        #expect(stage.run { app.connections == 1 })
        #expect(app.launchOptions.centrals == ["r"])
        // The restored scan may find the device before the controller connects to it.
        let events = app.events.map(\.event).filter { if case .discovered = $0 { false } else { true } }
        guard events.count >= 3, case .willRestoreCentral(let restored) = events[0],
            case .stateChanged(.poweredOn, _) = events[1], case .connected = events[2]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(restored.peripherals.count == 1)
    }

    @Test(
        "what is restored: the peripheral with its services and subscription, the scan with its options; the app discovers nothing again (scenario 9)"
    )
    func restored() throws {
        var wish = Wish.follower(restore: "r")
        (wish.scan, wish.allowsDuplicates) = ([.heartRate, BluetoothUUID(UInt16(0x180F))], true)
        let stage = Stage([wish])
        stage.come()
        let first = try stage.daemon.launch(Self.one)
        #expect(stage.run { !first.values.isEmpty })
        first.end(.signalled(9))
        #expect(stage.run { stage.daemon.process(of: Self.one).map { !$0.values.isEmpty } ?? false })
        let second = try #require(stage.daemon.process(of: Self.one))
        guard case .willRestoreCentral(let restored)? = second.events.first?.event,
            let peripheral = restored.peripherals.first
        else {
            Issue.record("nothing is restored")
            return
        }
        #expect(peripheral.description.state == .connected)
        let services = try #require(peripheral.services)
        #expect(services.contains { $0.uuid == .heartRate })
        let notifying = services.flatMap { $0.characteristics ?? [] }.filter(\.isNotifying)
        #expect(notifying.map(\.uuid) == [.heartRateMeasurement])
        #expect(restored.scan?.services == wish.scan && restored.scan?.allowsDuplicates == true)
        let isAgain = second.count {
            if case .peripheral(_, .notificationStateUpdated) = $0 { true } else { false }
        }
        #expect(isAgain == 0)
    }

    @Test(
        "two apps on one link: the first that lets go ends only its own connection; when the second does, the peripheral sees the end (scenario 10)"
    )
    func twoAppsOnOneLink() throws {
        let stage = Stage([.follower(), .follower()])
        stage.come()
        let (one, two) = (try stage.daemon.launch(Self.one), try stage.daemon.launch(Self.two))
        #expect(stage.run { !one.values.isEmpty && !two.values.isEmpty })
        one.letGo()
        #expect(stage.run { one.disconnections == [nil] })
        let values = two.values.count
        #expect(stage.run { two.values.count >= values + 3 })
        #expect(two.disconnections.isEmpty && stage.daemon.status.adapters[0].links.count == 1)
        #expect(stage.daemon.world.air.statistics(of: stage.sensor).isConnected)
        two.letGo()
        #expect(stage.run { two.disconnections == [nil] && stage.daemon.status.adapters[0].links.isEmpty })
        #expect(stage.run { !stage.daemon.world.air.statistics(of: stage.sensor).isConnected })
        let seen = stage.daemon.world.air.statistics(of: stage.sensor)
        #expect(seen.lastDisconnectReason == .remoteUserTerminatedConnection)
    }

    @Test(
        "the services of an app that is suspended without the mode can be discovered, and their values give an error, until it is back (scenario 26)"
    )
    func suspendedServer() throws {
        var wish = Wish()
        let (service, value) = (BluetoothUUID(UInt16(0x180F)), BluetoothUUID(UInt16(0x2A19)))
        wish.publish = [
            LocalService(
                id: LocalAttributeID(rawValue: 1), uuid: service,
                characteristics: [
                    LocalCharacteristic(
                        id: LocalAttributeID(rawValue: 2), uuid: value, properties: 0x02, permissions: 0x01)
                ])
        ]
        wish.advertise = AdvertisementRequest(localName: "Door")
        let stage = Stage([wish], modes: [])
        let app = try stage.daemon.launch(Self.one)
        #expect(stage.run { app.count { $0 == .advertisingStarted(nil) } == 1 })
        let central = HostStation.central(of: stage.daemon)
        let link = try central.link(to: stage.daemon)
        #expect(central.read(link, 0x2A19) == Array("here".utf8))
        stage.daemon.suspend(Self.one)
        #expect(stage.run { app.isStopped })
        func reads() -> Int { app.count { if case .readRequest = $0 { true } else { false } } }
        let before = reads()
        #expect(central.services(link).contains(0x180F))
        #expect(central.read(link, 0x2A19) == nil)
        #expect(reads() == before)
        stage.daemon.operate(.foreground(Self.one))
        #expect(central.read(link, 0x2A19) == Array("here".utf8))
    }

    @Test("each app has its own identifiers for the same device; another's is unknown to it (scenario 27)")
    func identifiers() throws {
        var wish = Wish()
        wish.scan = [.heartRate]
        let stage = Stage([wish, wish])
        stage.come()
        let (one, two) = (try stage.daemon.launch(Self.one), try stage.daemon.launch(Self.two))
        #expect(stage.run { !one.found.isEmpty && !two.found.isEmpty })
        #expect(one.found[0] != two.found[0])
        var stranger = Wish()
        stranger.attempt = one.found[0]
        stage.daemon.wishes[AppID(rawValue: "org.example.three")] = stranger
        stage.daemon.write(Manifest("org.example.three"))
        stage.daemon.operate(.reload)
        let three = try stage.daemon.launch("org.example.three")
        #expect(stage.run { three.events.contains { if case .connectionFailed = $0.event { true } else { false } } })
        let failures = three.events.compactMap {
            if case .connectionFailed(_, let error) = $0.event { error } else { nil }
        }
        #expect(failures == [.coreBluetooth(.unknownDevice)] && three.connections == 0)
    }
}
