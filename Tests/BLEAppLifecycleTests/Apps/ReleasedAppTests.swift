import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// An owner that is not told which apps there are would otherwise keep something of every name that it has ever heard.
@Suite("Apps that are known no more")
struct ReleasedAppTests {
    let world = World()
    private let station: AppStation

    init() {
        station = AppStation(world)
        world.air.addPeripheral(Profiles.belt())
    }

    private func release(_ app: TestApp, forgettingDevices: Bool) -> Bool {
        station.apps { $0.release(app.id, forgettingDevices: forgettingDevices, at: world.now) }
    }

    private var identities: [String] { AppStation.state(in: station.journal).identities.map(\.app.rawValue) }

    @Test("an app that has ended and knows no device leaves its place to the next one")
    func placeOfNothing() {
        for number in 0..<20 {
            let app = TestApp(station, "program\(number)")
            let central = app.central()
            #expect(central.wait { if case .stateChanged(.poweredOn, _) = $0 { true } else { false } })
            #expect(!release(app, forgettingDevices: true), "it runs")
            app.end(.exited)
            #expect(release(app, forgettingDevices: false))
            #expect(release(app, forgettingDevices: false), "released twice")
        }
        #expect(station.apps { $0.runtime.apps.indices.count } == 1)
        #expect(station.apps { $0.runtime.apps.freePlaces } == [0])
    }

    @Test("an app that has found a device keeps its place and the device's identifier (REC-3)")
    func knownDevice() throws {
        let app = TestApp(station, "first")
        let peer = try #require(app.central().discover([Profiles.heartRate]))
        app.end(.exited)
        #expect(!release(app, forgettingDevices: false))
        _ = TestApp(station, "second")
        app.launch(inForeground: true)
        #expect(app.central().discover([Profiles.heartRate]) == peer)
        #expect(station.apps { $0.runtime.apps.indices.count } == 2)
    }

    @Test(
        "of an app that is forgotten, the next one in its place and the journal have nothing, nor has it itself (REC-3)"
    )
    func forgotten() throws {
        let app = TestApp(station, "first")
        let peer = try #require(app.central().discover([Profiles.heartRate]))
        app.end(.exited)
        #expect(identities == ["first"])
        #expect(release(app, forgettingDevices: true))
        #expect(identities.isEmpty)
        let next = TestApp(station, "second")
        let central = next.central()
        let other = try #require(central.discover([Profiles.heartRate]))
        #expect(other != peer)
        #expect(central.connect(other))
        #expect(identities == ["second"])
        // While it is connected, nobody else finds the device.
        next.end(.exited)
        app.launch(inForeground: true)
        let third = try #require(app.central().discover([Profiles.heartRate]))
        #expect(third != peer && third != other)
        #expect(station.apps { $0.runtime.apps.indices.count } == 2)
    }

    @Test("an app that comes back before its place was taken has it again")
    func back() {
        let app = TestApp(station, "first")
        app.end(.exited)
        #expect(release(app, forgettingDevices: false))
        app.launch(inForeground: true)
        _ = TestApp(station, "second")
        #expect(station.apps { $0.place(of: app.id) } == .foreground)
        #expect(
            station.apps { life in life.runtime.apps.indices.map { life.runtime.apps[$0].id.rawValue } } == [
                "first", "second",
            ])
    }

    @Test("an app with a manager that continues keeps its place (SPR-4)")
    func preserved() throws {
        let app = TestApp(station, "first", modes: .central)
        let central = app.central(ManagerOptions(restoreIdentifier: "c"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        app.end(.terminatedBySystem)
        #expect(!release(app, forgettingDevices: true))
        app.end(.forceQuit)
        #expect(release(app, forgettingDevices: true))
    }
}
