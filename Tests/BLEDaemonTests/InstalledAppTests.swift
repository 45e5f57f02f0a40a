import BLEAppLifecycle
import Foundation
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Manifests of installed apps")
struct InstalledAppTests {
    private static func problem(_ manifest: [String: Any]) throws -> String? {
        let file = try JSONSerialization.data(withJSONObject: manifest)
        do {
            _ = try InstalledApp(file: file)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "an identifier that would be a line or a file of its own is refused",
        arguments: [
            "a\n4242 123456 group foreground b", "a\r\nb", "a\u{0}b", "a\u{7F}", ".hidden", "..", "", "a/b",
            String(repeating: "a", count: 201),
        ])
    func identifiers(_ name: String) throws {
        #expect(try #require(try Self.problem(["BundleIdentifier": name])).contains("‘BundleIdentifier’"))
    }

    @Test("an identifier may be long and have spaces and letters of any script")
    func goodIdentifiers() throws {
        for name in ["org.example.relay", "Ein Gerät", String(repeating: "a", count: 200)] {
            #expect(try Self.problem(["BundleIdentifier": name]) == nil)
        }
    }

    @Test(
        "a unit that is a pattern, a path or an option is refused",
        arguments: ["*.service", "a?.service", "[a]b.service", "a/b.service", "-a.service", "a b.service", "a.socket"])
    func units(_ name: String) throws {
        #expect(try #require(try Self.problem(["BundleIdentifier": "a", "unit": name])).contains("‘unit’"))
        #expect(try Self.problem(["BundleIdentifier": "a", "unit": "relay@1.service"]) == nil)
    }

    @Test("a command without a user runs as an ordinary user alone")
    func missingUser() throws {
        let command = try Self.problem(["BundleIdentifier": "a", "command": ["/bin/true"]])
        if geteuid() == 0 {
            #expect(try #require(command).contains("‘user’ is missing"))
        } else {
            #expect(command == nil)
        }
        #expect(try Self.problem(["BundleIdentifier": "a", "command": ["/bin/true"], "user": "root"]) == nil)
        #expect(try Self.problem(["BundleIdentifier": "a", "unit": "a.service"]) == nil)
    }

    @Test("a manifest says whether the app's advertisements send the overflow area (SPEC 3.6)")
    func overflow() throws {
        for (text, setting) in [("off", OverflowSetting.off), ("on", .on), ("0xFFFF", .company(0xFFFF))] {
            let manifest = ["BundleIdentifier": "a", "overflow": text]
            let app = try InstalledApp(file: JSONSerialization.data(withJSONObject: manifest))
            #expect(app.manifest.overflow == setting)
        }
        #expect(try #require(try Self.problem(["BundleIdentifier": "a", "overflow": "no"])).contains("‘overflow’"))
        let usual = try InstalledApp(file: JSONSerialization.data(withJSONObject: ["BundleIdentifier": "a"]))
        #expect(usual.manifest.overflow == .on)
    }

    @Test("a key or a background mode with a mistake in it is refused; Apple's own may stand there")
    func mistakes() throws {
        let key = try Self.problem(["BundleIdentifier": "a", "MayPair": false])
        #expect(try #require(key).contains("write ‘mayPair’"))
        let mode = try Self.problem(["BundleIdentifier": "a", "UIBackgroundModes": ["bluetooth-perpheral"]])
        #expect(try #require(mode).contains("‘bluetooth-peripheral’"))
        #expect(
            try Self.problem([
                "BundleIdentifier": "a", "UIBackgroundModes": ["audio", "bluetooth-central"], "CFBundleName": "A",
            ]) == nil)
    }

    @Test("many threads that look up users at once get the users that they asked for")
    func usersOnThreads() {
        let wrong = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let name = number.isMultiple(of: 2) ? "root" : "nobody"
            for _ in 0..<2000 {
                let user = Accounts.user(name)
                if user?.name != name || (user?.id == 0) != (name == "root") {
                    wrong.withLock { $0.append("\(name): \(String(describing: user))") }
                }
            }
        }
        #expect(wrong.withLock { $0.prefix(3) } == [])
        #expect(Accounts.user("no one of this name") == nil && Accounts.user("0")?.name == "root")
        #expect(Accounts.group("root") == 0 && Accounts.group("4711") == 4711)
        #expect(Accounts.group("no group of this name") == nil)
    }
}

@Suite("The folder of manifests")
struct InstalledAppsTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")

    private func write(_ text: String, to name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.path)
    }

    @Test("a file that has become wrong leaves its app as it was; one that is gone does not")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(#"{"BundleIdentifier": "one", "directory": "/first"}"#, to: "one.json")
        try write(#"{"BundleIdentifier": "two"}"#, to: "two.json")
        let before = InstalledApps(folder: folder.path) { _ in }
        #expect(before.areComplete && before.all.map(\.id.rawValue) == ["one", "two"])
        try write(#"{"BundleIdentifier": "one" "directory": "/second"}"#, to: "one.json")
        try FileManager.default.removeItem(at: folder.appendingPathComponent("two.json"))
        var said: [String] = []
        let after = InstalledApps(folder: folder.path, before: before) { said.append($0) }
        #expect(!after.areComplete && after.all == [before[AppID(rawValue: "one")]])
        #expect(said.count == 1 && said[0].contains("line 1") && said[0].contains("stays as it was"), "\(said)")
        try FileManager.default.removeItem(at: folder)
        #expect(InstalledApps(folder: folder.path, before: after) { _ in }.all == after.all)
    }

    @Test("of two files of one app, the one from which it was installed stays; the other is ignored, and says why")
    func duplicates() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(#"{"BundleIdentifier": "relay"}"#, to: "relay.json")
        let before = InstalledApps(folder: folder.path) { _ in }
        try write(#"{"BundleIdentifier": "relay", "directory": "/other"}"#, to: "a.json")
        var said: [String] = []
        let after = InstalledApps(folder: folder.path, before: before) { said.append($0) }
        #expect(after.all == before.all && after.ignoredFiles == 1 && !after.areComplete)
        #expect(said.count == 1 && said[0].contains("/a.json’ is ignored: ‘\(folder.path)/relay.json’"), "\(said)")
        #expect(!said[0].contains("stays as it was"))
        // Without an earlier one, the first by name.
        #expect(InstalledApps(folder: folder.path) { _ in }.all.map(\.folder) == ["/other"])
        // A file that takes another app's name loses its own app no less than one with an error.
        try write(#"{"BundleIdentifier": "second"}"#, to: "a.json")
        let two = InstalledApps(folder: folder.path, before: after) { _ in }
        #expect(two.areComplete && two.ignoredFiles == 0 && two.all.count == 2)
        try write(#"{"BundleIdentifier": "relay"}"#, to: "a.json")
        let last = InstalledApps(folder: folder.path, before: two) { said.append($0) }
        #expect(last.all == two.all && said.last?.contains("‘second’ stays as it was") == true)
    }
}
