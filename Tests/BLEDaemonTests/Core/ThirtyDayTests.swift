import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("A daemon with twenty apps lives thirty days")
struct ThirtyDayTests {
    /// Devices that come and go, the apps that wait for them, and everything that disturbs them.
    private final class Month {
        static let central = ["bluetooth-central"], peripheral = ["bluetooth-peripheral"]
        let daemon: VirtualDaemon
        let visitor: HostStation
        var devices: [SimulatedDeviceID] = []
        var chance = SeededGenerator(seed: 7)
        /// Two apps wait for each device, four scan, four serve, and two have no background mode.
        let followers = (0..<10).map { "org.example.follower\($0)" }
        let scanners = (0..<4).map { "org.example.scanner\($0)" }
        let servers = (0..<4).map { "org.example.server\($0)" }
        let modest = (0..<2).map { "org.example.modest\($0)" }
        var all: [String] { followers + scanners + servers + modest }
        /// How often each app was connected to its device, has found one, or was asked for its value.
        var successes: [String: Int] = [:]
        /// The processes that were launched, and how many of them by an event.
        var seen: Set<Int32> = []
        var restorations = 0

        static func service(_ device: Int) -> BluetoothUUID { BluetoothUUID(UInt16(0xFD00 + device)) }
        static func own(_ server: Int) -> BluetoothUUID { BluetoothUUID(UInt16(0xFE00 + server)) }

        init() {
            let followers = followers.map { Manifest($0, modes: Self.central) }
            let scanners = scanners.map { Manifest($0, modes: Self.central) }
            let servers = servers.map { Manifest($0, modes: Self.peripheral) }
            daemon = VirtualDaemon(apps: followers + scanners + servers + modest.map { Manifest($0) })
            visitor = HostStation.central(of: daemon)
            daemon.collectsLog = false
            daemon.engine.collectsCommands = false
            for device in 0..<5 {
                let value = SimulatedCharacteristic(
                    .heartRateMeasurement, [.notify], value: [0, 60], notifyEveryMicroseconds: 1_000_000,
                    notifiedValue: { [0, UInt8(truncatingIfNeeded: $0)] })
                devices.append(
                    daemon.world.air.addPeripheral(
                        SimulatedPeripheral(
                            name: "Device",
                            address: DeviceAddress(value: 0xC000_0000_0001 + UInt64(device), kind: .random),
                            services: [SimulatedService(Self.service(device), characteristics: [value])],
                            advertisement: SimulatedAdvertisement(
                                name: "Device", serviceUUIDs: [Self.service(device)]))))
            }
            for (number, name) in self.followers.enumerated() {
                var wish = Wish.follower(restore: "r")
                (wish.scan, wish.again) = ([Self.service(number / 2)], true)
                daemon.wishes[AppID(rawValue: name)] = wish
            }
            for (number, name) in self.scanners.enumerated() {
                var wish = Wish()
                (wish.restore, wish.scan, wish.allowsDuplicates) = ("r", [Self.service(number)], true)
                daemon.wishes[AppID(rawValue: name)] = wish
            }
            for (number, name) in self.servers.enumerated() {
                var wish = Wish()
                wish.restore = "r"
                wish.publish = [
                    LocalService(
                        id: LocalAttributeID(rawValue: 1), uuid: Self.own(number),
                        characteristics: [
                            LocalCharacteristic(
                                id: LocalAttributeID(rawValue: 2), uuid: Self.own(number + 8), properties: 0x02,
                                permissions: 0x01)
                        ])
                ]
                daemon.wishes[AppID(rawValue: name)] = wish
            }
            for name in modest {
                var wish = Wish.follower()
                (wish.scan, wish.again) = ([Self.service(4)], true)
                daemon.wishes[AppID(rawValue: name)] = wish
            }
            for device in devices { go(device) }
        }

        func run(_ span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
            daemon.world.run(for: span, until: isDone)
        }

        // MARK: What happens

        func come(_ device: SimulatedDeviceID) {
            daemon.world.air.setInRange(true, device)
            daemon.world.air.setAdvertising(true, of: device)
        }

        func go(_ device: SimulatedDeviceID) {
            daemon.world.air.disconnect(device)
            daemon.world.air.setAdvertising(false, of: device)
            daemon.world.air.setInRange(false, device)
        }

        /// Counts what each process gets from now on.
        func watch() {
            for app in daemon.launched where app.isRunning {
                app.collectsEvents = false
                if seen.insert(app.process).inserted, !app.launchOptions.isEmpty { restorations += 1 }
                let name = app.id.rawValue
                app.react = { [unowned self] _, event in
                    switch event {
                    case .connected, .discovered, .readRequest: successes[name, default: 0] += 1
                    default: break
                    }
                }
            }
        }

        /// A person opens every app for a moment.
        func open() {
            for device in devices { come(device) }
            for name in all { daemon.operate(.foreground(name)) }
            watch()
            _ = run(.seconds(10))
            for device in devices { go(device) }
            for name in all { daemon.suspend(name) }
            _ = run(.seconds(5))
            daemon.forgetEnded()
        }

        /// A device comes near for a moment.
        func visit(_ device: Int) {
            let waiting = followers[(2 * device)...(2 * device + 1)]
            let before = waiting.map { successes[$0, default: 0] }
            come(devices[device])
            let isServed = run(.seconds(60)) {
                watch()
                return zip(waiting, before).allSatisfy { isConnected($0, since: $1) }
            }
            #expect(isServed, "an app that waits for device \(device) does not get it, \(daemon.now)")
            _ = run(.seconds(2))
            go(devices[device])
            _ = run(.seconds(3))
        }

        /// A process that is launched for its connection has it before a test can look.
        private func isConnected(_ name: String, since count: Int) -> Bool {
            successes[name, default: 0] > count || daemon.process(of: name).map { $0.connections > 0 } ?? false
        }

        /// A central reads what the apps that serve have, which wakes or launches them.
        func readAll() throws {
            let app = try #require(daemon.process(of: servers[0]))
            daemon.operate(.foreground(servers[0]))
            app.ask(.peripheral(.startAdvertising(AdvertisementRequest(localName: "Here"))))
            _ = run(.seconds(1))
            let link = try visitor.link(to: daemon)
            for number in servers.indices {
                #expect(visitor.read(link, UInt16(0xFE08 + number)) == Array("here".utf8))
            }
            visitor.submit(.link(link, .disconnect))
            app.ask(.peripheral(.stopAdvertising))
            _ = run(.seconds(2))
            daemon.suspend(servers[0])
            visitor.forget()
        }

        /// A tool comes by.
        func passBy() {
            let tool = daemon.tool(user: 1000)
            tool.request(.radio(.scan(ScanRequest())))
            tool.request(.radio(.connect(ConnectRequest(peer: DeviceAddress(value: 0xC0FF_EE00_0000, kind: .random)))))
            #expect(tool.publish() != nil)
            _ = run(.seconds(1))
            tool.leave()
        }

        func disturb(before device: Int) {
            switch chance.next(below: 6) {
            case 0: daemon.process(of: followers[2 * device + Int(chance.next(below: 2))])?.end(.signalled(11))
            case 1: daemon.input(.memoryIsShort)
            case 2: passBy()
            case 3:
                daemon.loseController()
                _ = run(.seconds(Int32(1 + chance.next(below: 600))))
                daemon.returnController()
                _ = run(.seconds(10))
                open()
            case 4:
                daemon.operate(.power(false))
                _ = run(.seconds(Int32(1 + chance.next(below: 600))))
                daemon.operate(.power(true))
                _ = run(.seconds(10))
                open()
            default: break
            }
            watch()
        }

        // MARK: What is left

        /// How many elements each table of the core has.
        var tables: [String: Int] {
            daemon.withCore { core in
                [
                    "effects": core.effects.count, "connections": core.connections.all.count,
                    "admission": elements(core.admission), "turns": elements(core.turns),
                    "tools": elements(core.tools), "processes": elements(core.processes),
                    "alerts": core.operators.alerts.all.count, "partners": core.pairing.partners.count,
                    "known": elements(core.apps.known), "apps": core.apps.connections.count,
                    "unhandled": core.port.unhandled.count, "ledger": elements(core.port.ledger),
                    "operations": daemon.engine.openOperations.count,
                    "managers": daemon.preserved.managers.count, "identities": daemon.preserved.identities.count,
                    "programs": daemon.programs.count,
                ]
            }
        }

        private func elements(_ value: Any) -> Int {
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .class { return 0 }
            let isTable = [.collection, .dictionary, .set].contains(mirror.displayStyle)
            return mirror.children.reduce(isTable ? mirror.children.count : 0) { $0 + elements($1.value) }
        }
    }

    @Test(
        "scans, connections, launches, deaths, short memory and a controller that comes and goes: nothing grows, each operation ends once, no app starves"
    )
    func thirtyDays() throws {
        let month = Month()
        let daemon = month.daemon
        month.open()
        month.passBy()
        var tables: [[String: Int]] = []
        var (advances, successes) = (0, month.successes)
        for day in 0..<30 {
            let evening = Instant(microseconds: Int64(day + 1) * 86_400_000_000)
            for _ in 0..<6 {
                _ = month.run(.seconds(Int32(600 + month.chance.next(below: 9000))))
                let device = Int(month.chance.next(below: 5))
                month.disturb(before: device)
                month.visit(device)
                // Time is only asked for when something is due.
                if let deadline = daemon.coreDeadline { #expect(deadline > daemon.now) }
            }
            month.open()
            try month.readAll()
            _ = month.run(Microseconds(rawValue: evening.microseconds - daemon.now.microseconds))
            tables.append(month.tables)
            #expect(daemon.engine.surplusEnds == 0)
            // Every app has had something today.
            for name in month.all {
                #expect(month.successes[name, default: 0] > successes[name, default: 0], "\(name) on day \(day)")
            }
            #expect(daemon.advances - advances < 20_000)
            (advances, successes) = (daemon.advances, month.successes)
        }
        #expect(daemon.now == Instant(microseconds: 30 * 86_400_000_000))
        #expect(month.restorations >= 20)
        for (day, table) in tables.enumerated() { #expect(table == tables[0], "day \(day)") }
        // Nothing goes on when every app has been quit.
        for name in month.all { daemon.operate(.quit(name)) }
        _ = month.run(.seconds(60))
        #expect(daemon.engine.openOperations.isEmpty)
        #expect(daemon.status.adapters[0].wanted.isEmpty && daemon.status.adapters[0].links.isEmpty)
    }
}
