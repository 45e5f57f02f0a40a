import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Limits of an app: of its manifest, and of what it may have")
struct AppLimitTests {
    private static let outOfSpace = ClientError.coreBluetooth(.outOfSpace)

    @Test(
        "an app that overruns the seconds of its manifest is warned and stopped, the third time ended; its state stays (scenario 23)"
    )
    func wakeLimit() throws {
        let name = "org.example.busy"
        var manifest = Manifest(name, modes: ["bluetooth-central"])
        manifest.wakeSeconds = 1
        // Otherwise it is stopped as soon as it is idle.
        let daemon = VirtualDaemon(apps: [manifest]) { $0.limits.idleSeconds = nil }
        daemon.world.air.addPeripheral(.jellingHeart)
        var wish = Wish.follower(restore: "busy")
        wish.handles = false
        daemon.wishes[AppID(rawValue: name)] = wish
        let first = try daemon.launch(name)
        daemon.world.run(for: .seconds(20)) { !first.values.isEmpty }
        daemon.suspend(name)
        for strikes in 1...2 {
            daemon.world.run(for: .seconds(60)) { first.notices.count { $0 == .expiring } == strikes }
            #expect(first.notices.count { $0 == .expiring } == strikes)
            #expect(daemon.operate(.list)?.apps.first?.strikes == strikes)
            daemon.world.run(for: .seconds(10)) { first.isStopped }
            #expect(first.isStopped)
        }
        daemon.world.run(for: .seconds(60)) { !first.isRunning }
        #expect(!first.isRunning)
        // The next value launches it.
        daemon.world.run(for: .seconds(60)) { daemon.process(of: name).map { !$0.events.isEmpty } ?? false }
        let second = try #require(daemon.process(of: name))
        guard case .willRestoreCentral(let restored)? = second.events.first?.event else {
            Issue.record("nothing is restored")
            return
        }
        let characteristics = restored.peripherals.flatMap { $0.services ?? [] }.flatMap { $0.characteristics ?? [] }
        #expect(characteristics.count { $0.isNotifying } == 1)
    }

    @Test(
        "an app that publishes services, attributes and channels without end, or asks without end, meets its limits; another has room"
    )
    func limits() throws {
        let names = ["services", "attributes", "channels", "curious", "modest"]
        let daemon = VirtualDaemon(apps: names.map { Manifest("org.example.\($0)") })
        daemon.world.air.addPeripheral(.jellingHeart)
        func service(_ number: Int, _ count: Int) -> LocalService {
            LocalService(
                id: LocalAttributeID(rawValue: UInt32(number * 1000)), uuid: BluetoothUUID(UInt16(0x180F)),
                characteristics: (1...count).map {
                    LocalCharacteristic(
                        id: LocalAttributeID(rawValue: UInt32(number * 1000 + $0)),
                        uuid: BluetoothUUID(UInt16(0x2A19)), properties: 0x02, permissions: 0x01)
                })
        }
        var wishes = [Wish](repeating: Wish(), count: 5)
        wishes[0].publish = (1...70).map { service($0, 1) }
        wishes[1].publish = [service(1, 600)]
        wishes[2].channels = 20
        (wishes[3].scan, wishes[3].connects, wishes[3].signals) = ([.heartRate], true, 300)
        (wishes[4].publish, wishes[4].channels) = ([service(1, 1)], 2)
        var apps: [VirtualApp] = []
        for (name, wish) in zip(names, wishes) {
            daemon.wishes[AppID(rawValue: "org.example.\(name)")] = wish
            apps.append(try daemon.launch("org.example.\(name)"))
        }
        func published(_ app: VirtualApp) -> [ClientError?] {
            app.events.compactMap { if case .serviceAdded(_, let error) = $0.event { .some(error) } else { nil } }
        }
        func channels(_ app: VirtualApp) -> [ClientError?] {
            app.events.compactMap { if case .channelPublished(_, let error) = $0.event { .some(error) } else { nil } }
        }
        func signals() -> [ClientError?] {
            apps[3].events.compactMap {
                if case .peripheral(_, .rssiRead(_, let error)) = $0.event { .some(error) } else { nil }
            }
        }
        daemon.world.run(for: .seconds(120)) { signals().count == 300 }
        #expect(published(apps[0]) == Array(repeating: nil, count: 64) + Array(repeating: Self.outOfSpace, count: 6))
        #expect(apps[0].logged.contains { $0.contains("at most 64 services") })
        #expect(published(apps[1]) == [Self.outOfSpace])
        #expect(channels(apps[2]) == Array(repeating: nil, count: 16) + Array(repeating: Self.outOfSpace, count: 4))
        let answered = signals().count { $0 == nil }
        #expect(signals().count == 300 && 64..<300 ~= answered)
        #expect(signals().count { $0 == Self.outOfSpace } == 300 - answered)
        #expect(published(apps[4]) == [nil] && channels(apps[4]) == [nil, nil])
    }

    @Test(
        "an app whose manifest denies pairing gets the refusal of a protected value; where another app has paired, it gets the value (scenario 24)"
    )
    func pairingIsDenied() throws {
        var denied = Manifest("org.example.denied")
        denied.mayPair = false
        let daemon = VirtualDaemon(apps: [denied, Manifest("org.example.allowed")])
        let vault = HostStation.vault(of: daemon)
        let uuid = BluetoothUUID(UInt16(0x2A19))
        /// What an app that reads the protected value gets.
        func read(_ name: String, pairs: Bool) throws -> [PeripheralEvent] {
            daemon.wishes[AppID(rawValue: name)] = .follower(uuid)
            let app = try daemon.launch(name)
            if pairs { app.program?.send(.appPairing(asksSomebody: true, PairingOptions())) }
            var answers: [PeripheralEvent] = []
            app.react = { [weak app] _, event in
                guard case .peripheral(_, let event) = event else { return }
                if case .characteristicsDiscovered(_, let list, _) = event {
                    for one in list where one.uuid == uuid { app?.ask(.readValue(characteristic: one.id)) }
                }
                if case .valueUpdated = event { answers.append(event) }
            }
            daemon.world.run(for: .seconds(60)) { !answers.isEmpty }
            app.end(.exited(0))
            daemon.world.run(for: .seconds(5))
            return answers
        }
        if case .valueUpdated(_, nil, .att(let code)?)? = try read("org.example.denied", pairs: true).first {
            // Insufficient Authentication or Encryption.
            #expect(code == 5 || code == 15)
        } else {
            Issue.record("not refused")
        }
        for name in ["org.example.allowed", "org.example.denied"] {
            if case .valueUpdated(_, let value?, nil)? = try read(name, pairs: true).first {
                #expect(value == [0x5E, 0xC2])
            } else {
                Issue.record("\(name) got no value")
            }
        }
        #expect(daemon.engine.bonds.count == 1)
        _ = vault
    }
}

extension Wish {
    /// It connects to the first heart rate sensor, and looks for a characteristic.
    fileprivate static func follower(_ characteristic: BluetoothUUID) -> Wish {
        var wish = Wish.follower()
        wish.subscribe = characteristic
        return wish
    }
}

extension HostStation {
    /// A peripheral with a value that only encrypted links may read.
    fileprivate static func vault(of daemon: VirtualDaemon) -> HostStation {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = World.address(8)
        let station = HostStation(
            daemon.world, configuration: HostConfiguration(hasCryptoProvider: true), controller: controller)
        station.start()
        let characteristic = GATTCharacteristicDefinition(
            uuid: BluetoothUUID(UInt16(0x2A19)), properties: [.read], permissions: [.readable, .readEncryption],
            value: [0x5E, 0xC2])
        _ = station.publish(GATTServiceDefinition(uuid: .heartRate, characteristics: [characteristic]))
        station.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Vault", serviceUUIDs: [.heartRate])))))
        return station
    }
}
