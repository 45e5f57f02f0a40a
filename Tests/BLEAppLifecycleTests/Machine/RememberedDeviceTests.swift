import BLEHost
import BLEPackets
import BLESimulator
import Foundation
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// How many devices the machine remembers, and which.
@Suite("Remembered devices")
struct RememberedDeviceTests {
    private let world = World()

    private var settings: LifecycleSettings {
        var settings = LifecycleSettings()
        settings.rememberedDevices = 16
        return settings
    }

    private static func passer(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC100_0000_0000 + UInt64(number), kind: .random)
    }

    /// So many devices come by.
    private func passBy(_ numbers: Range<Int>, atATime count: Int = 10) {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: count) {
            let devices = (start..<min(start + count, numbers.upperBound)).map { number in
                world.air.addBroadcaster(
                    SimulatedBroadcaster(
                        address: Self.passer(number), advertisement: SimulatedAdvertisement(data: [2, 1, 6])))
            }
            world.run(for: .seconds(3))
            for device in devices { world.air.remove(device) }
        }
        world.run(for: .seconds(6))
    }

    private func retrieve(_ peer: PeerIdentifier, _ manager: TestManager) -> Bool {
        manager.forget()
        manager.ask(.retrievePeripherals(QueryID(rawValue: 1), [peer]))
        return manager.events.contains {
            if case .retrieved(_, let found) = $0 { found.map(\.identifier) == [peer] } else { false }
        }
    }

    @Test(
        "passing devices use bounded memory and journal; those that an app asked for stay (REC-3)")
    func bounded() throws {
        world.air.addPeripheral(Profiles.belt())
        world.air.addPeripheral(Profiles.door())
        let station = AppStation(world, settings: settings)
        let manager = TestApp(station).central()
        let asked = try #require(manager.discover([], name: "Belt"))
        #expect(manager.connect(asked))
        manager.ask(.cancelConnection(asked))
        let bonded = try #require(manager.discover([], name: "Lock"))
        station.apps { $0.restored([Bond(identity: Profiles.lockAddress)]) }
        manager.ask(.scan(ScanOptions()))
        passBy(0..<100)
        manager.ask(.stopScan)
        world.run(for: .seconds(10))
        let kept = AppStation.state(in: station.journal).identities
        #expect(Set(kept.map(\.identifier)).count <= 2 * 16 + 2)
        #expect(retrieve(asked, manager) && retrieve(bonded, manager))
        let first = kept.first { $0.address == Self.passer(0) }
        #expect(first == nil)
        // Another process has the same.
        let other = SimulatedControllerConfiguration()
        let again = AppStation(world, settings: settings, journal: station.journal, seed: 9, controller: other)
        let next = TestApp(again).central()
        #expect(retrieve(asked, next) && retrieve(bonded, next))
        #expect(next.discover([], name: "Belt") == asked)
    }

    @Test("devices that were only heard are written together, those that an app asks for at once (SPEC 5.5 rule 7)")
    func batches() throws {
        world.air.addPeripheral(Profiles.belt())
        let station = AppStation(world)
        let manager = TestApp(station).central()
        func lines() -> Int { Journal.payloads(in: station.journal).count }
        let belt = try #require(manager.discover([], name: "Belt"))
        manager.ask(.scan(ScanOptions()))
        passBy(0..<60, atATime: 60)
        let before = lines()
        #expect(before <= 16 + 4)
        #expect(AppStation.state(in: station.journal).identities.count == 61)
        manager.ask(.connect(belt, ConnectOptions()))
        #expect(
            AppStation.state(in: station.journal).identities.contains { $0.identifier == belt && $0.isOnlyHeard == nil }
        )
        #expect(lines() == before + 1)
    }

    @Test("a compacted journal says the same")
    func shortened() throws {
        let app = AppID(rawValue: "app")
        func name(_ number: UInt64) -> PeerIdentifier { PeerIdentifier(high: 1, low: number) }
        let entries: [JournalEntry] = [
            .identities(
                (1...4).map { number in
                    .init(app: app, identifier: name(number), address: Self.passer(Int(number)), isOnlyHeard: true)
                }),
            .identity(app, name(2), Self.passer(2)), .identity(app, name(3), Self.passer(9)),
            .identitiesForgotten([.init(app: app, identifier: name(4))]),
        ]
        var state = PreservedState()
        for entry in entries { state.apply(entry) }
        var short = PreservedState()
        for entry in state.entries { short.apply(entry) }
        #expect(short.identities.map(\.identifier) == [name(1), name(2), name(3)])
        #expect(short.identities.map(\.address) == [Self.passer(1), Self.passer(2), Self.passer(9)])
        #expect(short.identities.map(\.isOnlyHeard) == [true, nil, nil])
        #expect(try JSONDecoder().decode([JournalEntry].self, from: JSONEncoder().encode(entries)) == entries)
    }
}
