import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// How much waits for apps that do not receive their events, and how they learn what was lost (SPEC 5.5 rule 2, FGO-5).
@Suite("Requirements: what waits for an app")
struct QueueRequirements {
    private static let flow = BluetoothUUID(UInt16(0xFFF0))
    private static let number = BluetoothUUID(UInt16(0xFFF1))
    private static let name = BluetoothUUID(UInt16(0xFFF2))
    let world = World()
    var air: SimulatedAir { world.air }

    /// A sensor that sends a rising number every 2 ms, in as many octets.
    private func flood(octets: Int, _ address: UInt64 = 0xC0DE_0000_0077) -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: "Flood", address: DeviceAddress(value: address, kind: .random),
            services: [
                SimulatedService(
                    Self.flow,
                    characteristics: [
                        SimulatedCharacteristic(
                            Self.number, [.read, .notify], value: [0, 0], notifyEveryMicroseconds: 2000,
                            notifiedValue: {
                                [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
                                    + [UInt8](repeating: 0, count: octets - 2)
                            }),
                        SimulatedCharacteristic(Self.name, [.read], value: [9]),
                    ])
            ], advertisement: SimulatedAdvertisement(name: "Flood", serviceUUIDs: [Self.flow]))
    }

    /// An app without a background mode that is subscribed and suspended.
    private func suspended(
        _ station: AppStation, _ name: String = "org.example.app", user: UInt32 = 0
    ) throws -> (app: TestApp, central: TestManager, peer: PeerIdentifier, value: RemoteCharacteristic) {
        let app = TestApp(station, name)
        var manifest = AppManifest(app: app.id)
        manifest.user = user
        station.apps { $0.declare(manifest) }
        let central = app.central()
        let peer = try #require(central.discover([Self.flow]))
        #expect(central.connect(peer))
        let value = try #require(central.explore(peer, Self.flow)[Self.number])
        #expect(central.subscribe(value, of: peer))
        app.leave()
        central.forget()
        return (app, central, peer, value)
    }

    private func numbers(_ central: TestManager) -> [Int] { central.values.map { Int($0[0]) << 8 | Int($0[1]) } }

    private func lost(_ central: TestManager) -> Int {
        central.events.reduce(0) { if case .eventsLost(let count) = $1 { $0 + count } else { $0 } }
    }

    @Test("six thousand values wait for a suspended app, and all of them arrive in order (FGO-5)")
    func sixThousand() throws {
        let station = AppStation(world)
        air.addPeripheral(flood(octets: 20))
        let (app, central, _, _) = try suspended(station)
        world.run(for: .seconds(60)) { station.apps { $0.waitingEvents(for: app.id) } >= 6000 }
        station.forgetOutputs()
        app.enterForeground()
        let numbers = numbers(central)
        #expect(numbers.count >= 6000)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(lost(central) == 0 && station.logs == [])
    }

    @Test("beyond its octets an app loses its oldest values, and is told how many in an event and in its log (FGO-5)")
    func loss() throws {
        var settings = LifecycleSettings()
        settings.queuedOctetLimit = 192 << 10
        let station = AppStation(world, settings: settings)
        air.addPeripheral(flood(octets: 100))
        let (app, central, _, _) = try suspended(station)
        world.run(for: .seconds(5))
        station.forgetOutputs()
        app.enterForeground()
        let numbers = numbers(central)
        let count = lost(central)
        #expect(count > 100 && numbers.count > 200)
        #expect(numbers.reduce(0) { sum, _ in sum + 400 } <= 192 << 10)
        #expect(numbers.count > 300 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(station.logs == [.eventsLost(count: count)])
        #expect(central.events.first == .eventsLost(count: count))
    }

    @Test("the end of a request waits whatever else is dropped, and so does a disconnection (FGO-5)")
    func requestsStay() throws {
        var settings = LifecycleSettings()
        settings.queuedOctetLimit = 16 << 10
        let station = AppStation(world, settings: settings)
        let device = air.addPeripheral(flood(octets: 100))
        let (app, central, peer, _) = try suspended(station)
        app.enterForeground()
        let name = try #require(central.explore(peer, Self.flow)[Self.name])
        central.ask(.readValue(characteristic: name.id), of: peer)
        central.ask(.readRSSI, of: peer)
        app.leave()
        central.forget()
        world.run(for: .seconds(5))
        air.disconnect(device)
        world.run(for: .seconds(5))
        app.enterForeground()
        #expect(lost(central) > 100)
        #expect(central.peripheralEvents.contains(.valueUpdated(characteristic: name.id, [9], nil)))
        #expect(central.peripheralEvents.contains { if case .rssiRead(_, nil) = $0 { true } else { false } })
        #expect(central.disconnections.count == 1)
    }

    @Test("apps of one user share a limit; the one for which most waits loses, and those of others keep theirs (FGO-5)")
    func users() throws {
        var settings = LifecycleSettings()
        settings.queuedOctetLimit = 192 << 10
        settings.queuedOctetLimitOfUser = 240 << 10
        let station = AppStation(world, settings: settings)
        air.addPeripheral(flood(octets: 100, 0xC0DE_0000_0001))
        let other = try suspended(station, "org.example.other", user: 2)
        air.addPeripheral(flood(octets: 100, 0xC0DE_0000_0002))
        let greedy = try suspended(station, "org.example.greedy", user: 1)
        world.run(for: .seconds(5))
        let quiet = air.addPeripheral(flood(octets: 100, 0xC0DE_0000_0003))
        let modest = try suspended(station, "org.example.modest", user: 1)
        world.run(for: .milliseconds(100))
        air.disconnect(quiet)
        world.run(for: .seconds(1))
        for app in [other, greedy, modest] { app.app.enterForeground() }
        #expect(lost(other.central) > 0 && numbers(other.central).count > 250)
        #expect(lost(greedy.central) > 0)
        #expect(lost(modest.central) == 0)
        let octets = [greedy, modest].reduce(0) { $0 + numbers($1.central).count * 400 }
        #expect(octets <= 240 << 10)
    }
}
