import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Processes of apps: how they begin and end")
struct DeathTests {
    private static let name = "org.example.app"
    private let daemon: VirtualDaemon
    private let sensor: SimulatedDeviceID

    init() {
        daemon = VirtualDaemon(
            apps: ["org.example.app", "org.example.other"].map { Manifest($0, modes: ["bluetooth-central"]) })
        sensor = daemon.world.air.addPeripheral(.jellingHeart)
        for name in ["org.example.app", "org.example.other"] {
            daemon.wishes[AppID(rawValue: name)] = .follower(restore: "r")
        }
    }

    private func run(_ span: Microseconds = .seconds(30), until isDone: () -> Bool) -> Bool {
        daemon.world.run(for: span, until: isDone)
    }

    private var status: AppStatus { daemon.operate(.list)?.apps.first ?? AppStatus() }
    private var launches: Int { daemon.launched.count { $0.id.rawValue == Self.name } }

    @Test("an app that is in the foreground twice is one process")
    func once() throws {
        let app = try daemon.launch(Self.name)
        #expect(try daemon.launch(Self.name) === app)
        #expect(launches == 1 && status.process == UInt32(app.process))
    }

    @Test(
        "an app whose connection ends counts as dead half a second later, if its process goes on; then an event launches it"
    )
    func connectionEnds() throws {
        let app = try daemon.launch(Self.name)
        #expect(run { !app.values.isEmpty })
        daemon.suspend(Self.name)
        app.program?.leave()
        daemon.world.run(for: .milliseconds(400))
        #expect(status.place != .notRunning && status.place != .relaunching)
        daemon.world.run(for: .milliseconds(200))
        #expect(status.place == .notRunning || status.place == .relaunching)
        // Its process is in the way until it ends.
        #expect(run { app.isRunning && status.place == .relaunching })
        app.end(.exited(1))
        #expect(run { launches == 2 && !(daemon.process(of: Self.name)?.values.isEmpty ?? true) })
        #expect(daemon.process(of: Self.name)?.launchOptions.centrals == ["r"])
    }

    @Test(
        "short memory ends the app that has been suspended for the longest time, one for each report; its links continue"
    )
    func shortMemory() throws {
        let (first, second) = (try daemon.launch(Self.name), try daemon.launch("org.example.other"))
        #expect(run { !first.values.isEmpty && !second.values.isEmpty })
        daemon.input(.memoryIsShort)
        #expect(daemon.log.last?.line.contains("no app is suspended") == true)
        daemon.world.air.setInRange(false, sensor)
        #expect(run(.seconds(60)) { daemon.status.adapters[0].links.isEmpty })
        daemon.suspend(Self.name)
        daemon.world.run(for: .seconds(5))
        daemon.suspend("org.example.other")
        daemon.world.run(for: .seconds(5))
        daemon.input(.memoryIsShort)
        daemon.world.settle()
        #expect(!first.isRunning && second.isRunning)
        #expect(daemon.operate(.show(Self.name))?.apps.first?.preservedCentrals == ["r"])
        daemon.input(.memoryIsShort)
        daemon.world.settle()
        #expect(!second.isRunning)
    }

    @Test("an app that was quit is launched by no event, and nothing of it goes on")
    func quit() throws {
        let app = try daemon.launch(Self.name)
        #expect(run { !app.values.isEmpty })
        #expect(daemon.operate(.quit(Self.name))?.error == "")
        daemon.world.run(for: .seconds(60))
        #expect(!app.isRunning && launches == 1 && status.place == .notRunning)
        let adapter = daemon.status.adapters[0]
        #expect(adapter.links.isEmpty && adapter.wanted.isEmpty)
        #expect(daemon.preserved.managers.isEmpty)
    }
}
