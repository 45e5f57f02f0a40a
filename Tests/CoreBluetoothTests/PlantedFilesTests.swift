import BLEAppLifecycle
import BLEAppState
import BLEPackets
import Foundation
import Testing

@testable import CoreBluetooth

/// What another user of the machine may put in the way of an app's state.
@Suite("State of apps among planted files", .timeLimit(.minutes(10)))
struct PlantedFilesTests {
    private let state: String
    private var journal: String { state + "/apps/app.journal" }
    private static let isRoot = geteuid() == 0
    private static let stranger: uid_t = 65534

    init() throws {
        state = FileManager.default.temporaryDirectory.appendingPathComponent("planted-\(UUID().uuidString)").path
        try #require(unsafe mkdir(state, 0o700) == 0 && mkdir(state + "/apps", 0o700) == 0)
        try "private".write(toFile: state + "/victim", atomically: false, encoding: .utf8)
    }

    private func entry(_ number: UInt64) -> JournalEntry {
        .identity(
            AppID(rawValue: "app"), PeerIdentifier(high: 1, low: number), DeviceAddress(value: number, kind: .public))
    }

    /// What a run that keeps its state there says, in one line; the run goes on all the same.
    private func told() -> [String] {
        let said = Locked<[String]>([])
        let file = JournalFile(path: journal, log: { line in said.with { $0.append(line) } })
        let restored = file.read()
        #expect(restored == PreservedState())
        for number in 1...3 { file.append(entry(UInt64(number))) }
        return said.current
    }

    private var victim: String? { try? String(contentsOfFile: state + "/victim", encoding: .utf8) }

    @Test("a journal that is a link is neither read, truncated nor replaced, and the remedy is reported once")
    func link() {
        defer { try? FileManager.default.removeItem(atPath: state) }
        for target in ["/victim", "/missing"] {
            unsafe unlink(journal)
            unsafe symlink(state + target, journal)
            let said = told()
            #expect(said.count == 1)
            #expect(said.first?.hasPrefix("the journal ‘\(journal)’ is a symbolic link, not a file: remove it") == true)
        }
        #expect(victim == "private")
        #expect(!FileManager.default.fileExists(atPath: state + "/missing"))
    }

    @Test("links under the names that a journal has meanwhile are not followed")
    func temporaryNames() throws {
        defer { try? FileManager.default.removeItem(atPath: state) }
        for name in [".new", ".damaged"] { unsafe symlink(state + "/victim", journal + name) }
        let file = JournalFile(path: journal, log: { _ in })
        for number in 1...3 { file.append(entry(UInt64(number))) }
        // Damaged, so that it is kept aside and written again.
        var octets = try Data(contentsOf: URL(fileURLWithPath: journal))
        octets[12] ^= 4
        try octets.write(to: URL(fileURLWithPath: journal))
        #expect(JournalFile(path: journal, log: { _ in }).read().identities.count == 2)
        #expect(victim == "private")
    }

    @Test("a pipe in the journal's place does not delay the app")
    func pipe() {
        defer { try? FileManager.default.removeItem(atPath: state) }
        unsafe mkfifo(journal, 0o600)
        #expect(told().count == 1)
    }

    @Test("another user's journal is not restored from", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: state) }
        JournalFile(path: journal, log: { _ in }).append(entry(1))
        let before = try Data(contentsOf: URL(fileURLWithPath: journal))
        unsafe chown(journal, Self.stranger, Self.stranger)
        #expect(told().first?.contains("is owned by user 65534, not by you") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal)) == before)
        unsafe chown(journal, 0, 0)
        unsafe chown(state + "/apps", Self.stranger, Self.stranger)
        #expect(told().first?.contains("/apps’ is owned by user 65534") == true)
    }

    @Test("folders are created for this user only, and the address is kept in no link")
    func folders() throws {
        defer { try? FileManager.default.removeItem(atPath: state) }
        let folder = StateFolder(path: state + "/a/b")
        let address = folder.staticAddress { _ in }
        #expect(folder.staticAddress { _ in } == address)
        JournalFile(path: folder.journalPath(of: "app"), log: { _ in }).append(entry(1))
        for name in ["/a", "/a/b", "/a/b/apps"] {
            let mode = try FileManager.default.attributesOfItem(atPath: state + name)[.posixPermissions] as? Int
            #expect(mode == 0o700, "\(name)")
        }
        unsafe unlink(state + "/a/b/static-address")
        unsafe symlink(state + "/missing", state + "/a/b/static-address")
        #expect(folder.staticAddress { _ in } != address)
        #expect(!FileManager.default.fileExists(atPath: state + "/missing"))
    }
}
