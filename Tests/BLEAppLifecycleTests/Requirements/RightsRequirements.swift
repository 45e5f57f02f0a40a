import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// What an app may do, and no longer may.
@Suite("Requirements: rights and limits of apps")
struct RightsRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    @Test("an app whose authorization is taken away hears of it; its scan and its link end, others' do not")
    func denied() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let other = TestApp(station, "other", modes: .central)
        let (manager, another) = (app.central(), other.central())
        let peers = try [manager, another].map { try #require($0.discover([Profiles.heartRate])) }
        for (manager, peer) in zip([manager, another], peers) {
            #expect(manager.connect(peer))
            manager.ask(.scan(ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)))
        }
        world.run(for: .seconds(1))
        station.apps { $0.declare(AppManifest(app: app.id, backgroundModes: .central, authorization: .denied)) }
        world.run(for: .seconds(2))
        #expect(manager.events.last == .stateChanged(.unauthorized, .denied))
        #expect(another.states == [.poweredOn])
        let count = manager.events.count
        world.run(for: .seconds(5))
        #expect(manager.events.count == count)
        // The belt has one link, which the other app still holds.
        other.end(.forceQuit)
        world.run(for: .seconds(2))
        let links = station.hostEvents.count { if case .connected = $0 { true } else { false } }
        let ends = station.hostEvents.count { if case .disconnected = $0 { true } else { false } }
        #expect(links == ends)
    }

    @Test("processes that end without creating their managers again do not leave more and more of them")
    func preserved() {
        let station = AppStation(world)
        let app = TestApp(station, modes: .central, launches: false)
        for round in 0..<6 {
            app.launch(inForeground: false)
            for number in 0..<16 {
                let manager = app.central(ManagerOptions(restoreIdentifier: "\(round)-\(number)"))
                manager.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
            }
            app.end(.crashed)
        }
        let limit = LifecycleSettings().preservedOfApp
        #expect(station.apps { $0.preserved(of: app.id).centrals.count } == limit)
        #expect(station.apps { $0.preservedApps } == [app.id])
        #expect(AppStation.state(in: station.journal).managers.count == limit)
        #expect(station.logs.contains(.appLimitReached("managers with restore identifiers", limit: limit)))
        // What is preserved can be created again, and makes room when it ends.
        app.launch(inForeground: false)
        let manager = app.central(ManagerOptions(restoreIdentifier: "0-0"))
        guard case .willRestoreCentral? = manager.events.first else {
            Issue.record("nothing was restored")
            return
        }
        app.end(.forceQuit)
        #expect(station.apps { $0.preservedApps } == [])
    }
}
