import BLEAppLifecycle
import BLEMessages
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Removing apps")
struct RemovingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apps-\(UUID())")

    private func begin() throws -> (stage: DaemonStage, client: RawClient) {
        let path = folder.path
        let stage = try DaemonStage { $0.appsFolder = path }
        let client = try stage.connect()
        try client.becomeOperator()
        return (stage, client)
    }

    /// - Returns: the path.
    @discardableResult
    private func write(_ manifest: String, to name: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try Data(manifest.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        return file.path
    }

    private func manifest(_ name: String) -> String {
        #"{"BundleIdentifier": "\#(name)", "command": ["/bin/sleep", "1000"], "user": "\#(geteuid())"}"#
    }

    private func process(of name: String, _ client: RawClient) throws -> UInt32 {
        let process = try client.operate(.list).apps.first { $0.identifier == name }?.process ?? 0
        #expect(process != 0)
        return process
    }

    private func names(_ client: RawClient) throws -> [String] {
        try client.operate(.list).apps.map(\.identifier)
    }

    private func remove(_ name: String, _ client: RawClient, keepsState: Bool = false) throws -> OperatorAnswer {
        try client.operate(.remove(name, keepsState: keepsState))
    }

    @Test("removing an app ends its process, deletes every manifest of it and no other; the next one begins anew")
    func removed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = [try write(manifest("gone"), to: "a.json"), try write(manifest("gone"), to: "b.json")]
        try write(manifest("other"), to: "gone.json")
        let (stage, client) = try begin()
        defer { _ = stage }
        #expect(try client.operate(.foreground("gone")).error.isEmpty)
        let process = try self.process(of: "gone", client)
        let answer = try remove("gone", client)
        #expect(answer.error.isEmpty && answer.removed?.files == paths, "\(answer)")
        #expect(answer.removed?.process == process && answer.removed?.isRunning == false)
        #expect(try names(client) == ["other"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["gone.json"])
        #expect(comesTrue { kill(Int32(process), 0) != 0 })
        let again = try remove("gone", client)
        #expect(again.error.contains("‘\(folder.path)/gone.json’ is there and is no manifest of it"), "\(again)")
        // Installed again, it is an app as any other.
        #expect(try client.operate(.install(Array(manifest("other").utf8))).error.isEmpty)
        #expect(try remove("other", client, keepsState: true).removed?.keepsState == true)
        #expect(try client.operate(.install(Array(manifest("gone").utf8))).error.isEmpty)
        #expect(try names(client) == ["gone"])
        #expect(try client.operate(.foreground("gone")).error.isEmpty)
        let next = try self.process(of: "gone", client)
        #expect(try remove("gone", client).error.isEmpty)
        // A daemon that stops first leaves a dead child behind, which other tests that wait for children would find.
        #expect(comesTrue { kill(Int32(next), 0) != 0 })
    }

    @Test("names that are paths, or nobody's, remove nothing")
    func strangers() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(manifest("one"), to: "one.json")
        let (stage, client) = try begin()
        defer { _ = stage }
        for name in ["", "two", "../one", "one.json", "/etc/passwd", "one\n", String(repeating: "x", count: 5000)] {
            let answer = try remove(name, client)
            #expect(answer.error.contains("is installed; see ‘bletool app list’") && answer.removed == nil, "\(name)")
        }
        #expect(try names(client) == ["one"])
    }

    @Test("an app whose manifest has become wrong, or is gone, can be removed")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try write(manifest("one"), to: "one.json")
        try write(manifest("two"), to: "two.json")
        let (stage, client) = try begin()
        defer { _ = stage }
        #expect(try names(client) == ["one", "two"])
        try write("{", to: "one.json")
        #expect(try remove("one", client).removed?.files == [path])
        try FileManager.default.removeItem(at: folder.appendingPathComponent("two.json"))
        let answer = try remove("two", client)
        #expect(answer.error.isEmpty && answer.removed?.files == [])
        #expect(try names(client) == [])
    }

    @Test("without a folder of apps, or if it is gone, the answer says so")
    func noFolder() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(manifest("one"), to: "one.json")
        let (stage, client) = try begin()
        defer { _ = stage }
        try FileManager.default.removeItem(at: folder)
        #expect(try remove("one", client).error.contains("cannot be read; nothing has been changed"))
        #expect(try names(client) == ["one"])
        let bare = try DaemonStage()
        let other = try bare.connect()
        try other.becomeOperator()
        #expect(try remove("one", other).error.contains("bled --apps DIR"))
    }

    @Test("the folder of apps has to be a folder when bled starts")
    func startingFolder() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try #require(Daemon.problem(ofAppsFolder: folder.path)).contains("does not exist; correct ‘--apps’"))
        let file = try write("{}", to: "file.json")
        #expect(Daemon.problem(ofAppsFolder: folder.path) == nil)
        #expect(try #require(Daemon.problem(ofAppsFolder: file)).contains("is not a folder"))
        #expect(try #require(Daemon.problem(ofAppsFolder: file + "/apps")).contains("cannot be reached"))
        #expect(try #require(Daemon.problem(ofAppsFolder: "")).contains("does not exist"))
    }
}
