import FoundationEssentials
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Folders of adapters")
struct AdapterFoldersTests {
    private static let (first, second) = ("C0:DE:00:00:00:01", "C0:DE:00:00:00:02")

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// A start of the daemon: the folders of its adapters, as addresses and transports.
    private func folders(_ path: String, _ adapters: (address: String?, transport: String)...) throws -> [String] {
        let folders = try AdapterFolders(path: path) { Issue.record("\($0)") }
        let present = Set(adapters.compactMap(\.address))
        return adapters.map { adapter in
            let folder = folders.folder(
                of: adapter.address, transport: adapter.transport, present: present, isOnly: adapters.count == 1)
            // What a daemon does with it.
            try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return folder.replacing(path, with: "")
        }
    }

    @Test(
        "a daemon that takes the first adapter that comes has its state in the folder itself, also if none came before")
    func anyAdapter() throws {
        try withFolder { (path: String) throws in
            for _ in 0..<2 { #expect(try folders(path, (nil, "all"), (Self.second, "user:0")).first == "") }
            let started = try AdapterFolders(path: path) { Issue.record("\($0)") }
            #expect(started.first == nil)
            #expect(started.folder(of: nil, transport: "all", present: [], isOnly: false) == path)
            started.appeared(Self.first, as: "all")
            #expect(started.first?.addressText == Self.first)
            // At the next start it has a name of its own.
            #expect(try folders(path, (Self.second, "user:0"), (Self.first, "user:1")).last == "")
        }
    }

    @Test("the daemon of one adapter becomes that of several, and each finds its state again, whatever its index")
    func severalFromOne() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own])
            #expect(try folders(path, (Self.second, "user:0"), (Self.first, "user:1")) == [own, ""])
            // The second one alone still has its own, and leaves the first one's alone.
            #expect(try folders(path, (Self.second, "user:0")) == [own])
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own])
        }
    }

    @Test("one adapter takes the place of another")
    func replaced() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            #expect(try folders(path, (Self.second, "user:0")) == [""])
            #expect(try AdapterFolders(path: path) { _ in }.first?.addressText == Self.second)
        }
    }

    @Test("an adapter that is not there at the start is the one that its transport named last")
    func absent() throws {
        try withFolder { (path: String) throws in
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            #expect(try folders(path, (nil, "user:0"), (nil, "user:1")) == ["", "/adapters/user_1"])
            // Both come while the daemon runs.
            let known = try AdapterFolders(path: path) { Issue.record("\($0)") }
            known.appeared(Self.first, as: "user:0")
            known.appeared(Self.second, as: "user:1")
            // What was begun without it becomes the adapter's own, also under another number.
            #expect(try folders(path, (nil, "user:0"), (nil, "user:1")) == ["", own])
            #expect(try folders(path, (Self.second, "user:0"), (Self.first, "user:1")) == [own, ""])
            #expect(try folders(path, (nil, "user:0"), (nil, "user:1")) == [own, ""])
        }
    }

    @Test("a number without an adapter has no claim to one that is there under another number")
    func absentButElsewhere() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            #expect(try folders(path, (nil, "user:0"), (Self.first, "user:1")) == ["/adapters/user_0", ""])
        }
    }

    @Test("two adapters with one address have a folder each, one that could not begin lets go of its own")
    func oneAddress() throws {
        try withFolder { (path: String) throws in
            let said = Mutex(0)
            let folders = try AdapterFolders(path: path) { _ in said.withLock { $0 += 1 } }
            func folder(_ transport: String) -> String {
                folders.folder(of: Self.first, transport: transport, present: [Self.first], isOnly: false)
            }
            #expect(folder("user:0") == path)
            #expect(folder("user:1") == path + "/adapters/user_1")
            #expect(said.withLock { $0 } == 1)
            folders.release("user:0")
            #expect(folder("user:2") == path)
        }
    }

    @Test("the first adapter comes later, and another one has its number at the next start")
    func firstComesLater() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (nil, "user:0")) == [""])
            try AdapterFolders(path: path) { Issue.record("\($0)") }.appeared(Self.first, as: "user:0")
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            #expect(try folders(path, (Self.second, "user:0"), (Self.first, "user:1")) == [own, ""])
        }
    }

    @Test("the daemon ends before its first adapter has come")
    func neverCame() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (nil, "user:0")) == [""])
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own])
        }
    }

    @Test("nobody gets a folder while the record is damaged, or planted: it could be another adapter's ")
    func damaged() throws {
        try withFolder { (path: String) throws in
            let file = path + "/adapters.json"
            try Data("{\"first\":".utf8).write(to: URL(filePath: file))
            let error = try #require(throws: AdapterFolders.Unreadable.self) { try AdapterFolders(path: path) { _ in } }
            #expect("\(error)".hasPrefix("‘\(file)’ is damaged: "))
            #expect(try Data(contentsOf: URL(filePath: file)) == Data("{\"first\":".utf8))
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/etc/hostname")
            #expect(throws: AdapterFolders.Unreadable.self) { try AdapterFolders(path: path) { _ in } }
        }
    }

    @Test("a name of an adapter never leaves the folder")
    func hostileNames() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (nil, "sim"), (nil, "unix:../../x")) == ["", "/adapters/unix_.._.._x"])
            #expect(try folders(path, (nil, "sim"), (nil, "..")) == ["", "/adapters/_.."])
        }
    }
}
