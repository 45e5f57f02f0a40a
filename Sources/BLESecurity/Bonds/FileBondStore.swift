import BLEHost
import BLEPackets
import BLEStateFiles
import Glibc
import Synchronization

/// Bonds in a folder that only its owner can look into.
///
/// The file is never written in place: a new one is written beside it, brought to the disk, and takes its name; then the
/// folder is brought to the disk. A process that is killed at any moment leaves the old file or the new one. Processes
/// that share the folder take turns by a lock, and each changes what it finds, not what it remembers.
///
/// A damaged file is kept under another name and told of; what of it is whole is kept in it. What another user owns or may
/// write is not used, nor is a link or a pipe (`SafeFolder`).
public final class FileBondStore: BondStore {
    /// Told when a damaged file was set aside.
    public typealias DamageHandler = @Sendable (DamagedBonds) -> Void

    /// The folder.
    public let path: String
    private let onDamage: DamageHandler
    /// What this process read or wrote last: whatever is missing since, another process has removed.
    private let seen = Mutex<[DeviceAddress: Bond]>([:])
    private let lock: FileLock

    private static let name = "bonds"
    private var file: String { path + "/" + Self.name }

    private let longestFile: Int

    /// - Parameters:
    ///   - path: a folder of its own; it is made where it is missing, and closed to everybody but its owner.
    ///   - onDamage: called from whichever method meets a damaged file.
    public convenience init(path: String, onDamage: @escaping DamageHandler = { _ in }) {
        self.init(path: path, lockTimeoutMilliseconds: 3000, onDamage: onDamage)
    }

    /// - Parameters:
    ///   - lockTimeoutMilliseconds: how long another process may hold the lock.
    ///   - longestFile: in octets; a longer one is not read whole, and never written.
    init(
        path: String, lockTimeoutMilliseconds: Int64, longestFile: Int = 16 << 20,
        onDamage: @escaping DamageHandler = { _ in }
    ) {
        self.path = path
        self.onDamage = onDamage
        self.longestFile = longestFile
        lock = FileLock(name: "lock", timeoutMilliseconds: lockTimeoutMilliseconds)
    }

    /// What the folder holds. Where they are missing, the folder and the key of private addresses are made.
    /// - Throws: `BondStoreError.busy` where another process holds the lock for longer than 3 s, `unknownVersion` for a
    ///   file of a later version, `refused` for what is not this user's alone and for bonds that are there and cannot be
    ///   read, `system` for everything else.
    public func load() throws(BondStoreError) -> StoredBonds {
        do throws(BondStoreError) { return try loadAll() } catch {
            guard case .system(let path, let cause) = error, mayBeThere else { throw error }
            throw .refused(path: path, cause: "cannot be used: \(cause); make it readable and writable for you")
        }
    }

    /// Whether there is a file; also where nobody lets us look.
    private var mayBeThere: Bool {
        var information = stat()
        return unsafe lstat(file, &information) == 0 || errno == EACCES
    }

    private func loadAll() throws(BondStoreError) -> StoredBonds {
        var kept = BondFile()
        var key = Key128.zero
        try change { contents throws(BondStoreError) in
            if let known = contents.identityResolvingKey {
                key = known
            } else {
                key = Self.newKey()
                contents.identityResolvingKey = key
            }
            kept = contents
        }
        return StoredBonds(bonds: kept.bonds.all, identityResolvingKey: key)
    }

    /// The bonds alone; nothing is made where there are none.
    public func bonds() throws(BondStoreError) -> [Bond] {
        try isThere() ? try load().bonds : []
    }

    /// Keeps a bond. One that another process has removed since is not brought back by a change that has no new keys.
    public func save(_ bond: Bond) throws(BondStoreError) {
        try change { contents throws(BondStoreError) in
            let last = seen.withLock { $0[bond.identity] }
            if contents.bonds.bond(for: bond.identity) == nil, let last, last.hasSameKeys(as: bond) { return }
            contents.bonds.set(bond)
        }
    }

    /// Takes a bond out. Nothing is made where there is no file.
    /// - Returns: whether there was such a bond.
    /// - Throws: as `load()`.
    @discardableResult
    public func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
        guard try isThere() else { return false }
        var wasThere = false
        try change { contents throws(BondStoreError) in wasThere = contents.bonds.remove(identity) }
        return wasThere
    }

    // MARK: Files

    /// Changes the file while the lock is held; an unchanged file is not written.
    private func change(
        _ body: (inout BondFile) throws(BondStoreError) -> Void
    ) throws(BondStoreError) {
        let folder = try folder(isMade: true)
        let held = try lock.take(in: folder)
        defer { close(held) }
        let (before, isDamaged) = try read(in: folder)
        var contents = before
        try body(&contents)
        if contents != before || isDamaged { try write(contents, in: folder) }
        let now = Dictionary(contents.bonds.all.map { ($0.identity, $0) }) { $1 }
        // Remembered beyond its removal by others.
        seen.withLock { $0.merge(now) { $1 } }
    }

    private func folder(isMade: Bool) throws(BondStoreError) -> SafeFolder {
        do throws(StateFileError) {
            return try SafeFolder(path: path, isMade: isMade, isPrivate: true)
        } catch {
            throw BondStoreError(error)
        }
    }

    /// Whether there is a file, or anything else in its place.
    private func isThere() throws(BondStoreError) -> Bool {
        do throws(StateFileError) {
            return try SafeFolder(path: path, isMade: false, isPrivate: true).contains(Self.name)
        } catch {
            guard error.isMissing else { throw BondStoreError(error) }
            return false
        }
    }

    private func read(in folder: borrowing SafeFolder) throws(BondStoreError) -> (BondFile, isDamaged: Bool) {
        do throws(StateFileError) {
            guard let bytes = try folder.read(Self.name, limit: longestFile) else { return (BondFile(), false) }
            switch BondFile.read(bytes) {
            case .whole(let contents): return (contents, false)
            case .unknownVersion: break
            case .damaged(let contents):
                let place = try folder.keep(bytes, of: Self.name, "damaged")
                onDamage(DamagedBonds(path: file, setAsideAs: place, keptBonds: contents.bonds.all.count))
                return (contents, true)
            }
        } catch {
            throw BondStoreError(error)
        }
        throw .unknownVersion(path: file)
    }

    private func write(_ contents: BondFile, in folder: borrowing SafeFolder) throws(BondStoreError) {
        let text = Array(contents.text.utf8)
        // What is longer would not be read again.
        guard text.count <= longestFile else { throw BondStoreError(file, EFBIG) }
        do throws(StateFileError) { try folder.replace(Self.name, with: text, isAlone: true) } catch {
            throw BondStoreError(error)
        }
    }

    private static func newKey() -> Key128 {
        var generator = SystemRandomNumberGenerator()
        var key = Key128.zero
        // A key of zeros resolves nothing (Core 5.4, Vol 3, Part H, 2.4.2.1).
        while key == .zero { key = Key128(rawValue: .random(in: .min ... .max, using: &generator)) }
        return key
    }
}

/// A file of bonds that could not be read whole.
public struct DamagedBonds: Hashable, Sendable {
    /// Where it was.
    public var path: String
    /// Where it is now.
    public var setAsideAs: String
    /// Bonds of it that were whole, and are kept.
    public var keptBonds: Int
}

extension DamagedBonds: CustomStringConvertible {
    public var description: String {
        "‘\(path)’ was damaged; \(keptBonds) of its bonds were recovered. The damaged file is now ‘\(setAsideAs)’; "
            + "pair missing devices again"
    }
}

extension Bond {
    fileprivate func hasSameKeys(as other: Bond) -> Bool {
        localKey == other.localKey && peerKey == other.peerKey && identityResolvingKey == other.identityResolvingKey
            && localSigningKey?.key == other.localSigningKey?.key && peerSigningKey?.key == other.peerSigningKey?.key
    }
}
