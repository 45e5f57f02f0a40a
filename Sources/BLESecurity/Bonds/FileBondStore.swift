import BLEHost
import BLEPackets
import BLEStateFiles
import Glibc
import Synchronization

/// Bonds in a folder that only its owner can read.
///
/// The file is never written in place: a new file is written beside it, synced to the disk and renamed; then the folder
/// is synced. A process that is killed at any moment leaves the old file or the new one. Processes that share the
/// folder take turns with a lock; each reads the file again before it changes it.
///
/// A damaged file is kept under another name and reported; its undamaged bonds are kept in use. Files that another user
/// owns or may write are refused, as are links and pipes (`SafeFolder`).
public final class FileBondStore: BondStore {
    /// Called when a damaged file was set aside.
    public typealias DamageHandler = @Sendable (DamagedBonds) -> Void

    /// The folder.
    public let path: String
    private let onDamage: DamageHandler
    /// The bonds that this process last read or wrote: another process has removed those that are missing since.
    private let seen = Mutex<[DeviceAddress: Bond]>([:])
    private let lock: FileLock

    private static let name = "bonds"
    private var file: String { path + "/" + Self.name }

    private let longestFile: Int

    /// - Parameters:
    ///   - path: a folder that nothing else uses; it is created if it is missing, and made accessible to its owner
    ///     only.
    ///   - onDamage: called by the method that finds a damaged file.
    public convenience init(path: String, onDamage: @escaping DamageHandler = { _ in }) {
        self.init(path: path, lockTimeoutMilliseconds: 3000, onDamage: onDamage)
    }

    /// - Parameters:
    ///   - lockTimeoutMilliseconds: how long another process may keep the lock.
    ///   - longestFile: in octets; a longer file is neither read completely nor written.
    init(
        path: String, lockTimeoutMilliseconds: Int64, longestFile: Int = 16 << 20,
        onDamage: @escaping DamageHandler = { _ in }
    ) {
        self.path = path
        self.onDamage = onDamage
        self.longestFile = longestFile
        lock = FileLock(name: "lock", timeoutMilliseconds: lockTimeoutMilliseconds)
    }

    /// Reads the bonds and the key of private addresses. Creates the folder and the key if they are missing.
    /// - Throws: `BondStoreError.busy` if another process has the lock for longer than 3 s, `unknownVersion` for a
    ///   file of a later version, `refused` for a file that others can access and for bonds that exist but cannot be
    ///   read, `system` for everything else.
    public func load() throws(BondStoreError) -> StoredBonds {
        do throws(BondStoreError) { return try loadAll() } catch {
            guard case .system(let path, let cause) = error, mayBeThere else { throw error }
            throw .refused(path: path, cause: "cannot be used: \(cause); make it readable and writable for you")
        }
    }

    /// Whether a file may exist; also if this process may not look.
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

    /// Reads only the bonds; creates nothing.
    public func bonds() throws(BondStoreError) -> [Bond] {
        try isThere() ? try load().bonds : []
    }

    /// Saves a bond. A change without new keys does not restore a bond that another process has removed meanwhile.
    public func save(_ bond: Bond) throws(BondStoreError) {
        try change { contents throws(BondStoreError) in
            let last = seen.withLock { $0[bond.identity] }
            if contents.bonds.bond(for: bond.identity) == nil, let last, last.hasSameKeys(as: bond) { return }
            contents.bonds.set(bond)
        }
    }

    /// Removes a bond. Creates no file if there is none.
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

    /// Changes the file under the lock; an unchanged file is not written.
    private func change(
        _ body: (inout BondFile) throws(BondStoreError) -> Void
    ) throws(BondStoreError) {
        let folder = try folder(isMade: true)
        let held = try lock.acquire(in: folder)
        defer { close(held) }
        let (before, isDamaged) = try read(in: folder)
        var contents = before
        try body(&contents)
        if contents != before || isDamaged { try write(contents, in: folder) }
        let now = Dictionary(contents.bonds.all.map { ($0.identity, $0) }) { $1 }
        // Remembered even if others remove it.
        seen.withLock { $0.merge(now) { $1 } }
    }

    private func folder(isMade: Bool) throws(BondStoreError) -> SafeFolder {
        do throws(StateFileError) {
            return try SafeFolder(path: path, isMade: isMade, isPrivate: true)
        } catch {
            throw BondStoreError(error)
        }
    }

    /// Whether there is a file, or anything else of that name.
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
                let place = try folder.preserve(bytes, of: Self.name, "damaged")
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
        // A longer file could not be read again.
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

/// A bond file that could not be read completely.
public struct DamagedBonds: Hashable, Sendable {
    /// Its original path.
    public var path: String
    /// Its path now.
    public var setAsideAs: String
    /// How many of its bonds were undamaged and are kept.
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
