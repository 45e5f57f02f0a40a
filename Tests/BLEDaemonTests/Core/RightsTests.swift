import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Rights of users, which the configuration and manifests give and take away")
struct RightsTests {
    /// That of `nobody`.
    private static let nobody: UInt32 = 65534
    private static let group: UInt32 = 54321

    @Test(
        "a user's programs may have one name after the other: what has ended gives way, only those that run are counted"
    )
    func namesOfApps() throws {
        let daemon = VirtualDaemon { $0.limits.appsOfUser = 4 }
        daemon.world.air.addPeripheral(.jellingHeart)
        var finding = Wish()
        finding.scan = [.heartRate]
        for number in 0..<12 {
            let app = daemon.app("program\(number)", user: 1000, number % 2 == 0 ? finding : Wish())
            daemon.world.run(for: .seconds(5)) { number % 2 == 1 || !app.found.isEmpty }
            #expect(app.program?.isClosed == false)
            app.end(.exited(0))
        }
        let crowd = (0..<4).map { daemon.app("crowd\($0)", user: 1000) }
        let surplus = daemon.app("one more", user: 1000)
        #expect(surplus.program?.refusal == .tooManyManagers)
        #expect(surplus.program?.refusalText.contains("appsOfUser") == true)
        // Another user has room.
        #expect(daemon.app("one more", user: 1001).program?.isClosed == false)
        crowd[0].end(.exited(0))
        #expect(daemon.app("one more", user: 1000).program?.isClosed == false)
    }

    @Test(
        "a user whom the configuration lets in may run foreground apps without a manifest; taken out, its programs are refused"
    )
    func usersOfTheConfiguration() {
        let daemon = VirtualDaemon { $0.users = [Self.nobody] }
        let app = daemon.app("org.example.app", user: Self.nobody)
        daemon.world.run(for: .seconds(1))
        #expect(app.count { $0 == .stateChanged(.poweredOn, .allowedAlways) } == 1)
        daemon.change(users: [])
        #expect(app.program?.refusal == .notAllowed && app.program?.isClosed == true)
        // Refused when it connects.
        let late = daemon.app("org.example.app", user: Self.nobody)
        #expect(late.program?.refusal == .notAllowed && late.events.isEmpty)
        daemon.change(users: [Self.nobody])
        #expect(daemon.app("org.example.app", user: Self.nobody).program?.isClosed == false)
    }

    @Test("the programs of one user that have left do not occupy the places of another user")
    func leavers() {
        let daemon = VirtualDaemon {
            $0.limits.clients = 6
            $0.limits.clientsOfUser = 2
        }
        var other: VirtualProgram?
        // It finds all of them at once.
        daemon.whileBusy {
            for _ in 0..<6 {
                let program = daemon.tool(user: 1000)
                program.request(all: (0..<256).map { _ in .host(.cancel(OperationID(rawValue: 99))) })
                program.leave()
            }
            other = daemon.tool(user: 1001)
        }
        #expect(other?.isWelcome == true)
    }

    @Test(
        "a new configuration ends the sessions of who is no operator any more, of every kind, and of users whose last app goes with it"
    )
    func rightsEnd() {
        let manifest = Manifest("org.example.app", user: "nobody")
        let daemon = VirtualDaemon(apps: [manifest]) {
            $0.users = [Self.nobody]
            $0.operatorGroup = Self.group
        }
        let person = daemon.person(user: Self.nobody, groups: [Self.group])
        let ofOne = daemon.tool(user: Self.nobody, groups: [Self.group])
        let tool = daemon.tool(user: Self.nobody)
        #expect(person.isWelcome && ofOne.isWelcome && tool.isWelcome)
        daemon.change(users: [Self.nobody])
        #expect(person.refusal == .notAllowed && person.isClosed)
        #expect(ofOne.refusal == .notAllowed && ofOne.isClosed)
        #expect(!tool.isClosed)
        // Its user still has an app; without it the user has nothing here.
        daemon.change(users: [])
        #expect(tool.refusal == .notAllowed && tool.isClosed)
        let app = daemon.app("org.example.app", user: Self.nobody)
        #expect(app.program?.isClosed == false)
        daemon.delete("org.example.app")
        daemon.change(users: [])
        #expect(app.program?.refusal == .notAllowed && app.program?.isClosed == true)
    }

    @Test(
        "an app whose manifest gets a mistake goes on; one whose manifest is removed ends as one that was quit, stopped or not"
    )
    func uninstalled() throws {
        let name = "org.example.gone"
        let manifest = Manifest(name, modes: ["bluetooth-central"])
        let daemon = VirtualDaemon(apps: [manifest])
        daemon.world.air.addPeripheral(.jellingHeart)
        daemon.wishes[AppID(rawValue: name)] = .follower(restore: "gone")
        var app = try daemon.launch(name)
        daemon.world.run(for: .seconds(20)) { app.values.count >= 2 }
        daemon.suspend(name)
        daemon.world.run(for: .seconds(1)) { app.isStopped }
        #expect(app.isStopped)
        daemon.damage(name)
        daemon.input(.reload)
        #expect(daemon.log.contains { $0.line.contains("stays as it was") })
        let count = app.values.count
        daemon.world.run(for: .seconds(20)) { app.values.count >= count + 2 && app.isStopped }
        #expect(app.isRunning && app.isStopped && app.values.count >= count + 2)
        // Its process ends, and a value launches it again.
        app.end(.signalled(11))
        daemon.write(manifest)
        daemon.input(.reload)
        daemon.world.run(for: .seconds(60)) { daemon.process(of: name).map { !$0.values.isEmpty } ?? false }
        app = try #require(daemon.process(of: name))
        #expect(app.count { if case .willRestoreCentral = $0 { true } else { false } } == 1)
        daemon.world.run(for: .seconds(20)) { app.isStopped }
        #expect(app.isStopped)
        daemon.delete(name)
        daemon.input(.reload)
        daemon.world.run(for: .seconds(10))
        #expect(!app.isRunning && daemon.status.adapters[0].links.isEmpty)
        // Whose it is now does not get what the other had.
        daemon.write(manifest)
        daemon.input(.reload)
        #expect(daemon.operate(.list)?.apps.first?.process == nil)
        app = try daemon.launch(name)
        daemon.world.run(for: .seconds(5)) { app.count { if case .stateChanged = $0 { true } else { false } } > 0 }
        #expect(app.count { if case .stateChanged = $0 { true } else { false } } == 1)
        #expect(app.count { if case .willRestoreCentral = $0 { true } else { false } } == 0)
    }

    @Test(
        "what an app had asked for waits for it after a restart; when its identifier is another user's, nothing of it is left"
    )
    func stateOfAnotherUser() throws {
        let name = "org.example.shared"
        let daemon = VirtualDaemon(apps: [Manifest(name, modes: ["bluetooth-central"])])
        daemon.world.air.addPeripheral(.jellingHeart)
        daemon.wishes[AppID(rawValue: name)] = .follower(restore: "shared")
        let app = try daemon.launch(name)
        daemon.world.run(for: .seconds(20)) { app.values.count >= 2 }
        daemon.restart()
        daemon.world.run(for: .seconds(60)) { daemon.process(of: name).map { !$0.values.isEmpty } ?? false }
        let second = try #require(daemon.process(of: name))
        // Its link was made again, and is reported when it is restored.
        #expect(second.count { if case .willRestoreCentral = $0 { true } else { false } } == 1)
        daemon.write(Manifest(name, modes: ["bluetooth-central"], user: "nobody"))
        daemon.restart()
        let shown = try #require(daemon.operate(.show(name))?.apps.first)
        #expect(shown.user == Self.nobody && shown.preservedCentrals.isEmpty && shown.place == .notRunning)
        #expect(daemon.preserved.managers.isEmpty && daemon.preserved.identities.isEmpty)
    }
}

extension Wish {
    /// It connects to the first heart rate sensor, and subscribes to it.
    static func follower(restore: String? = nil) -> Wish {
        var wish = Wish()
        wish.restore = restore
        (wish.scan, wish.connects, wish.subscribe) = ([.heartRate], true, .heartRateMeasurement)
        return wish
    }
}

extension VirtualDaemon {
    /// Launches an installed app in the foreground.
    func launch(_ name: String) throws -> VirtualApp {
        #expect(operate(.foreground(name))?.error == "")
        return try #require(process(of: name))
    }

    /// Sends an app to the background, and suspends it.
    func suspend(_ name: String) {
        operate(.background(name))
        operate(.suspend(name))
    }
}
