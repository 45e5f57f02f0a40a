import BLEAppLifecycle
import BLEAppState
import BLEMessages
import BLEPackets
import Foundation
import Testing

@testable import BLEDaemon

@Suite("The users of apps in the journal")
struct AppOwnersTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("owners-\(UUID())")

    /// A folder of apps of root, with these identifiers.
    private func installed(_ names: String...) throws -> InstalledApps {
        let apps = folder.appendingPathComponent("apps-\(UUID())")
        try FileManager.default.createDirectory(at: apps, withIntermediateDirectories: true)
        for name in names {
            let path = apps.appendingPathComponent(name + ".json")
            try Data(#"{"BundleIdentifier": "\#(name)", "user": "root"}"#.utf8).write(to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.path)
        }
        return InstalledApps(folder: apps.path) { _ in }
    }

    private func journal() -> JournalFile {
        JournalFile(path: folder.appendingPathComponent("state/bled.journal").path) { _ in }
    }

    private func identity(_ name: String, _ number: UInt8) throws -> JournalEntry {
        let identifier = try #require(PeerIdentifier("00000000-0000-0000-0000-0000000000\(number)"))
        return .identity(
            AppID(rawValue: name), identifier, try #require(DeviceAddress("00:00:00:00:00:\(number)/public")))
    }

    @Test("what another user's app with the same identifier has left is neither restored nor kept")
    func anotherUser() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = journal()
        _ = first.read()
        for (number, name) in ["0:mine", "1:mine", "0:gone", "1000/plain"].enumerated() {
            first.append(try identity(name, UInt8(10 + number)))
        }
        let apps = try installed("mine", "other")
        var owners = AppOwners()
        let state = owners.restored(from: journal(), apps)
        #expect(state.identities.map(\.app.rawValue) == ["mine", "gone", "1000/plain"])
        #expect(owners[AppID(rawValue: "mine")] == 0 && owners[AppID(rawValue: "gone")] == 0)
        #expect(journal().read().identities.map(\.app.rawValue) == ["0:mine", "0:gone", "1000/plain"])
        // An app keeps its user's name also while its manifest cannot be read.
        #expect(owners.journalName(of: AppID(rawValue: "gone")).rawValue == "0:gone")
        #expect(owners.journalName(of: AppID(rawValue: "1000/plain")).rawValue == "1000/plain")
    }

    @Test("a journal without users gets them from the installed apps, and identifiers may contain colons")
    func earlierJournal() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = journal()
        _ = first.read()
        for (number, name) in ["mine", "unknown", "0:a:b"].enumerated() {
            first.append(try identity(name, UInt8(10 + number)))
        }
        var owners = AppOwners()
        let state = owners.restored(from: journal(), try installed("mine", "a:b"))
        #expect(state.identities.map(\.app.rawValue) == ["mine", "unknown", "a:b"])
        #expect(journal().read().identities.map(\.app.rawValue) == ["0:mine", "unknown", "0:a:b"])
    }

    @Test("apps that are not installed count for their user also when bled is started again")
    func countedAgain() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = geteuid()
        let first = journal()
        _ = first.read()
        let names = ["\(user)/a", "\(user)/b", "\(user + 1)/c", "\(user)/a", "\(user)/d", "installed", "no/user"]
        for (number, name) in names.enumerated() { first.append(try identity(name, UInt8(10 + number))) }
        var limits = ClientLimits()
        limits.appsOfUser = 2
        let path = folder.appendingPathComponent("state/bled.journal").path
        let stage = try DaemonStage(limits: limits) { $0.journalPath = path }
        let before = stage.withDaemon { daemon in daemon.core.apps.known.mapValues { $0.map(\.rawValue) } }
        #expect(before == [user: ["\(user)/b", "\(user)/a", "\(user)/d"], user + 1: ["\(user + 1)/c"]])
        let client = try stage.connect()
        client.send(.hello(Greeting(.app, app: AppGreeting("e"))))
        guard case .appWelcome? = try client.next() else {
            Issue.record("the app was refused")
            return
        }
        let after = stage.withDaemon { daemon in daemon.core.apps.known[user]?.map(\.rawValue) }
        #expect(after == ["\(user)/d", "\(user)/e"])
        let left = journal().read().identities.map(\.app.rawValue)
        #expect(left == ["\(user + 1)/c", "\(user)/d", "installed", "no/user"])
    }

    @Test("an app that is abandoned knows no device any more, and the journal says so")
    func abandoned() throws {
        var state = PreservedState()
        state.apply(try identity("app", 10))
        state.apply(try identity("other", 11))
        var apps = AppLifecycle(settings: LifecycleSettings(), seed: [UInt8](repeating: 7, count: 32), restoring: state)
        apps.abandon(AppID(rawValue: "app"), at: .zero)
        var left = state
        while let output = apps.nextOutput() {
            if case .journal(let entry) = output { left.apply(entry) }
        }
        #expect(left.identities.map(\.app.rawValue) == ["other"])
    }
}
