import BLEHost
import BLEPackets
import Foundation
import Testing

@testable import BLESecurity

/// What another user of the machine may put in the way of bonds.
@Suite("Bonds among planted files", .timeLimit(.minutes(10)))
struct PlantedFilesTests {
    private let path: String
    private static let isRoot = geteuid() == 0
    private static let stranger: uid_t = 65534
    private let bond = Bond(identity: DeviceAddress(value: 1, kind: .public), keySize: 16)

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("planted-\(UUID().uuidString)").path
        try #require(unsafe mkdir(path, 0o700) == 0)
    }

    /// What each way to the bonds says; the same word for all, and bonds are never told of.
    private func refusals() -> Set<BondStoreError?> {
        let store = FileBondStore(path: path, lockTimeoutMilliseconds: 100)
        var errors: Set<BondStoreError?> = []
        func note(_ body: () throws(BondStoreError) -> Void) {
            do throws(BondStoreError) {
                try body()
                errors.insert(nil)
            } catch {
                errors.insert(error)
            }
        }
        note { () throws(BondStoreError) in _ = try store.load() }
        note { () throws(BondStoreError) in _ = try store.bonds() }
        note { () throws(BondStoreError) in try store.save(bond) }
        note { () throws(BondStoreError) in _ = try store.remove(bond.identity) }
        return errors
    }

    private func isRefused(_ word: String, at name: String) -> Bool {
        let errors = refusals()
        guard errors.count == 1, case .refused(path + name, let cause)?? = errors.first else {
            Issue.record("\(errors)")
            return false
        }
        return cause.contains(word) && cause.contains("--state")
    }

    @Test("a pipe named bonds, or lock, holds nobody up")
    func pipes() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        unsafe mkfifo(path + "/bonds", 0o600)
        #expect(isRefused("is a pipe, not a file", at: "/bonds"))
        unsafe unlink(path + "/bonds")
        try FileBondStore(path: path).save(bond)
        unsafe unlink(path + "/lock")
        unsafe mkfifo(path + "/lock", 0o600)
        #expect(isRefused("is a pipe, not a file", at: "/lock"))
    }

    @Test("links are not followed: neither to someone else's bonds, nor to a file that would be written")
    func links() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileBondStore(path: path + "/other").save(bond)
        unsafe symlink(path + "/other/bonds", path + "/bonds")
        #expect(isRefused("is a symbolic link", at: "/bonds"))
        unsafe unlink(path + "/bonds")
        try FileBondStore(path: path).save(bond)
        unsafe unlink(path + "/lock")
        unsafe symlink(path + "/victim", path + "/lock")
        #expect(isRefused("is a symbolic link", at: "/lock"))
        #expect(!FileManager.default.fileExists(atPath: path + "/victim"))
    }

    @Test("a name that a killed process would have left is no way in")
    func temporaryNames() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "private".write(toFile: path + "/victim", atomically: false, encoding: .utf8)
        for name in ["/bonds.new", "/.bonds.0123456789abcdef"] { unsafe symlink(path + "/victim", path + name) }
        try FileBondStore(path: path).save(bond)
        #expect(try String(contentsOfFile: path + "/victim", encoding: .utf8) == "private")
        #expect(try FileBondStore(path: path).load().bonds == [bond])
    }

    @Test("another user's bonds are not trusted, nor is that user's folder used", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileBondStore(path: path).save(bond)
        unsafe chown(path + "/bonds", Self.stranger, Self.stranger)
        #expect(isRefused("is owned by user 65534, not by you", at: "/bonds"))
        unsafe chown(path + "/bonds", 0, 0)
        unsafe chown(path, Self.stranger, Self.stranger)
        #expect(isRefused("is owned by user 65534, not by you", at: ""))
        unsafe chown(path, 0, 0)
        #expect(refusals() == [nil])
    }

    @Test("bonds that others could have written are not trusted")
    func writable() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileBondStore(path: path).save(bond)
        unsafe chmod(path + "/bonds", 0o666)
        #expect(isRefused("may be written by other users (mode 666)", at: "/bonds"))
        unsafe chmod(path + "/bonds", 0o600)
        unsafe link(path + "/bonds", path + "/second")
        #expect(isRefused("has other names", at: "/bonds"))
    }
}
