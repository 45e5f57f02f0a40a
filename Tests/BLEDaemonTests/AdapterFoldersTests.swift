import FoundationEssentials
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Folders of adapters")
struct AdapterFoldersTests {
    private static let (first, second) = ("C0:DE:00:00:00:01", "C0:DE:00:00:00:02")
    private static let third = "C0:DE:00:00:00:03"

    /// The folder of an adapter that is not the first.
    private static func own(_ address: String) -> String { "/adapters/" + address.replacing(":", with: "_") }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// A start of the daemon: the folders of its adapters, as addresses and transports.
    private func folders(_ path: String, _ adapters: (address: String?, transport: String)...) throws -> [String] {
        try places(path, adapters).map { $0.folder.replacing(path, with: "") }
    }

    /// - Parameter others: the addresses of adapters that are there, and are not the daemon's.
    private func places(
        _ path: String, _ adapters: [(address: String?, transport: String)], others: Set<String> = [],
        log: @escaping @Sendable (String) -> Void = { Issue.record("\($0)") }
    ) throws -> [AdapterFolders.Place] {
        let folders = try AdapterFolders(path: path, log: log)
        let present = others.union(adapters.compactMap(\.address))
        return adapters.map { adapter in
            let place = folders.place(
                of: adapter.address, transport: adapter.transport, present: present, isOnly: adapters.count == 1)
            // What a daemon does with it.
            try? FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
            return place
        }
    }

    @Test(
        "a daemon that takes the first adapter that comes has its state in the folder itself, also if none came before")
    func anyAdapter() throws {
        try withFolder { (path: String) throws in
            for _ in 0..<2 { #expect(try folders(path, (nil, "all"), (Self.second, "user:0")).first == "") }
            let started = try AdapterFolders(path: path) { Issue.record("\($0)") }
            #expect(started.first == nil)
            #expect(started.place(of: nil, transport: "all", present: [], isOnly: false).folder == path)
            started.appeared(Self.first, as: "all")
            #expect(started.first?.text == Self.first)
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

    @Test("the only adapter takes the place of one that is not there as soon as it works, and bled says so")
    func replaced() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let said = Mutex<[String]>([])
            let running = try AdapterFolders(path: path) { line in said.withLock { $0.append(line) } }
            let place = running.place(of: Self.second, transport: "user:0", present: [Self.second], isOnly: true)
            #expect(place.folder == path)
            #expect(said.withLock { $0.isEmpty } && running.first?.text == Self.first)
            for _ in 0..<2 { running.isReady("user:0") }
            let lines = said.withLock { $0 }
            let words = "\(Self.second) takes the place of \(Self.first)"
            #expect(lines.count == 1 && lines[0].hasPrefix(words), "\(lines)")
            #expect(try AdapterFolders(path: path) { _ in }.first?.text == Self.second)
        }
    }

    @Test("a name of an adapter that never comes takes over nothing, also if it is another one's at each start")
    func mistyped() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (nil, "sim")) == [""])
            for typo in ["uart:/dev/typo@115200", "unix:/typo"] {
                #expect(try folders(path, (nil, typo)) == [""])
                #expect(try folders(path, (nil, "sim"), (nil, "sim:esp32")) == ["", "/adapters/sim_esp32"])
            }
            // What works is another one, and so it is from now on.
            let running = try AdapterFolders(path: path) { _ in }
            #expect(running.place(of: nil, transport: "unix:/c", present: [], isOnly: true).folder == path)
            running.isReady("unix:/other")
            running.isReady("unix:/c")
            #expect(try folders(path, (nil, "sim"), (nil, "unix:/c")) == ["/adapters/sim", ""])
        }
    }

    @Test("an adapter that is unplugged before it has worked leaves the place of another one to its own replacement")
    func heirIsReplaced() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let running = try AdapterFolders(path: path) { _ in }
            _ = running.place(of: Self.second, transport: "user:0", present: [Self.second], isOnly: true)
            #expect(running.replace(Self.second, by: Self.third, as: "user:0"))
            #expect(running.first?.text == Self.first)
            running.isReady("user:0")
            #expect(running.first?.text == Self.third)
        }
    }

    @Test("the only adapter has a state of its own while the first one is there: both find theirs again")
    func notReplaced() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            for _ in 0..<2 {
                let places = try places(path, [(Self.second, "user:1")], others: [Self.first])
                #expect(places.map(\.folder) == [path + own])
                #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own])
            }
        }
    }

    @Test("nobody but the adapter whose state it is gets a folder that was chosen before that adapter is there")
    func awaited() throws {
        try withFolder { (path: String) throws in
            let addresses = { (places: [AdapterFolders.Place]) in places.map { $0.awaited?.text } }
            // Nothing is known of those that come: they may be any.
            #expect(try addresses(places(path, [(nil, "user:0"), (nil, "user:1")])) == [nil, nil])
            #expect(try addresses(places(path, [(Self.first, "user:0"), (Self.second, "user:1")])) == [nil, nil])
            #expect(try addresses(places(path, [(nil, "user:0"), (nil, "user:1")])) == [Self.first, Self.second])
            #expect(try addresses(places(path, [(Self.second, "user:0"), (nil, "user:1")])) == [nil, nil])
        }
    }

    @Test("the only adapter is the first one if it is not there yet and nothing is known of its number")
    func onlyOneIsAwaited() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let place = try places(path, [(nil, "user:3")])[0]
            #expect(place.folder == path && place.awaited?.text == Self.first)
            // That one is there, and so it is another one.
            let other = try places(path, [(nil, "user:3")], others: [Self.first])[0]
            #expect(other.folder == path + "/adapters/user_3" && other.awaited == nil)
            // Other transports get no address.
            let simulator = try places(path, [(nil, "sim")], others: [Self.first])[0]
            #expect(simulator.folder == path + "/adapters/sim" && simulator.awaited == nil)
            #expect(try AdapterFolders(path: path) { _ in }.first?.text == Self.first)
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
            // Nor does what was begun for the number become that one's, when it has the number again.
            let own = "/adapters/" + Self.second.replacing(":", with: "_")
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own])
        }
    }

    @Test("two adapters with one address have a folder each, one that could not begin lets go of its own")
    func oneAddress() throws {
        try withFolder { (path: String) throws in
            let said = Mutex(0)
            let folders = try AdapterFolders(path: path) { _ in said.withLock { $0 += 1 } }
            func folder(_ transport: String) -> String {
                folders.place(of: Self.first, transport: transport, present: [Self.first], isOnly: false).folder
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

    @Test("a damaged record is kept aside: the only adapter there has been finds its state, and bled says so")
    func damaged() throws {
        try withFolder { (path: String) throws in
            let file = path + "/adapters.json"
            try Data("{\"first\":".utf8).write(to: URL(filePath: file))
            let said = Mutex<[String]>([])
            let places = try places(path, [(Self.first, "user:0")]) { line in said.withLock { $0.append(line) } }
            #expect(places.map(\.folder) == [path])
            #expect(said.withLock { $0.map { $0.contains("adapters.json.damaged") } } == [true])
            #expect(try Data(contentsOf: URL(filePath: file + ".damaged")) == Data("{\"first\":".utf8))
            #expect(try folders(path, (Self.second, "user:0"), (Self.first, "user:1")) == [Self.own(Self.second), ""])
        }
    }

    @Test("behind a damaged record of several adapters no adapter gets the state of another")
    func damagedOfSeveral() throws {
        try withFolder { (path: String) throws in
            let own = [Self.own(Self.first), Self.own(Self.second)]
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", own[1]])
            try Data("nothing".utf8).write(to: URL(filePath: path + "/adapters.json"))
            let said = Mutex<[String]>([])
            let record = try AdapterFolders(path: path) { line in said.withLock { $0.append(line) } }
            #expect(said.withLock { $0.map { $0.contains("adapters.json.damaged") } } == [true])
            #expect(record.first == nil)
            let places = [(Self.second, "user:1"), (Self.first, "user:0")].map {
                record.place(of: $0.0, transport: $0.1, present: [Self.first, Self.second], isOnly: false).folder
            }
            #expect(places == [path + own[1], path + own[0]])
            // Nor does an adapter that is the only one.
            #expect(try folders(path, (Self.first, "user:0")) == [own[0]])
        }
    }

    @Test("nobody gets a folder while somebody else's file is in the place of the record")
    func planted() throws {
        try withFolder { (path: String) throws in
            try FileManager.default.createSymbolicLink(
                atPath: path + "/adapters.json", withDestinationPath: "/etc/hostname")
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

    @Test("an adapter that is plugged in in place of the only one while it runs takes over its state, once")
    func replacedWhileRunning() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0")) == [""])
            let running = try AdapterFolders(path: path) { _ in }
            let place = running.place(of: Self.first, transport: "user:0", present: [Self.first], isOnly: true)
            #expect(place.folder == path)
            #expect(running.replace(Self.first, by: Self.second, as: "user:0"))
            // It is the other one's now.
            #expect(!running.replace(Self.first, by: Self.third, as: "user:0"))
            #expect(try folders(path, (Self.second, "user:0")) == [""])
        }
    }

    @Test("an adapter with state of its own does not take over another one's while that runs")
    func replacedByKnown() throws {
        try withFolder { (path: String) throws in
            #expect(try folders(path, (Self.first, "user:0"), (Self.second, "user:1")) == ["", Self.own(Self.second)])
            let running = try AdapterFolders(path: path) { _ in }
            _ = running.place(of: Self.first, transport: "user:0", present: [Self.first], isOnly: true)
            #expect(!running.replace(Self.first, by: Self.second, as: "user:0"))
            #expect(running.replace(Self.first, by: Self.third, as: "user:0"))
            #expect(!running.replace(Self.second, by: Self.first, as: "user:0"), "its state has a folder of its own")
        }
    }
}
