import BLEHost
import BLEPackets
import Glibc
import Synchronization

/// Bonds in a folder that only its owner can look into.
///
/// The file is never written in place: a new one is written beside it, brought to the disk, and takes its name; then the
/// folder is brought to the disk. A process that is killed at any moment leaves the old file or the new one. Processes
/// that share the folder take turns by a lock, and each changes what it finds, not what it remembers.
///
/// A damaged file is renamed and told of; what of it is whole is kept.
public final class FileBondStore: BondStore {
    /// Told when a damaged file was set aside.
    public typealias DamageHandler = @Sendable (DamagedBonds) -> Void

    /// The folder.
    public let path: String
    private let onDamage: DamageHandler
    /// What this process read or wrote last: whatever is missing since, another process has removed.
    private let seen = Mutex<[DeviceAddress: Bond]>([:])
    private let lock: FileLock

    private var file: String { path + "/bonds" }

    private let longestFile: Int

    /// - Parameters:
    ///   - path: a folder of its own; it is made where it is missing, and closed to everybody but its owner.
    ///   - onDamage: called from whichever method meets a damaged file.
    public convenience init(path: String, onDamage: @escaping DamageHandler = { _ in }) {
        self.init(path: path, lockPatienceMilliseconds: 3000, onDamage: onDamage)
    }

    /// - Parameters:
    ///   - lockPatienceMilliseconds: how long another process may hold the lock.
    ///   - longestFile: in octets; a longer one is not read whole, and never written.
    init(
        path: String, lockPatienceMilliseconds: Int64, longestFile: Int = 16 << 20,
        onDamage: @escaping DamageHandler = { _ in }
    ) {
        self.path = path
        self.onDamage = onDamage
        self.longestFile = longestFile
        lock = FileLock(path: path + "/lock", patienceMilliseconds: lockPatienceMilliseconds)
    }

    /// What the folder holds. Where they are missing, the folder and the key of private addresses are made.
    /// - Throws: `BondStoreError.busy` where another process holds the lock for longer than 3 s, `unknownVersion` for a
    ///   file of a later version, `system` for everything else.
    public func load() throws(BondStoreError) -> StoredBonds {
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
        guard access(file, F_OK) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw failure(file)
        }
        return try load().bonds
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
        guard access(file, F_OK) == 0 || errno != ENOENT else { return false }
        var wasThere = false
        try change { contents throws(BondStoreError) in wasThere = contents.bonds.remove(identity) }
        return wasThere
    }

    // MARK: Files

    /// Changes the file while the lock is held; an unchanged file is not written.
    private func change(
        _ body: (inout BondFile) throws(BondStoreError) -> Void
    ) throws(BondStoreError) {
        try makeFolder()
        let held = try lock.take()
        defer { close(held) }
        let (before, isDamaged) = try read()
        var contents = before
        try body(&contents)
        if contents != before || isDamaged { try write(contents) }
        let now = Dictionary(contents.bonds.all.map { ($0.identity, $0) }) { $1 }
        // Remembered beyond its removal by others.
        seen.withLock { $0.merge(now) { $1 } }
    }

    private func makeFolder() throws(BondStoreError) {
        var part = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            part += "/" + component
            guard mkdir(part, 0o700) == 0 || errno == EEXIST else { throw failure(part) }
        }
        var information = stat()
        guard stat(path, &information) == 0 else { throw failure(path) }
        if information.st_mode & 0o077 != 0, information.st_uid == geteuid() {
            guard chmod(path, 0o700) == 0 else { throw failure(path) }
        }
    }

    private func read() throws(BondStoreError) -> (BondFile, isDamaged: Bool) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return (BondFile(), false) }
            throw failure(file)
        }
        defer { close(descriptor) }
        var information = stat()
        if fstat(descriptor, &information) == 0, information.st_mode & 0o077 != 0 { _ = fchmod(descriptor, 0o600) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count <= longestFile {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(file) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        switch BondFile.read(bytes) {
        case .whole(let contents): return (contents, false)
        case .unknownVersion: throw .unknownVersion(path: file)
        case .damaged(let contents):
            let place = try setAside()
            onDamage(DamagedBonds(path: file, setAsideAs: place, keptBonds: contents.bonds.all.count))
            return (contents, true)
        }
    }

    /// Gives a damaged file a second name; the first is taken from it when what is whole has been written.
    private func setAside() throws(BondStoreError) -> String {
        for number in 1...1000 {
            let place = "\(file).damaged-\(number)"
            // A link does not replace: what was set aside before stays.
            if link(file, place) == 0 { return place }
            guard errno == EEXIST else { throw failure(place) }
        }
        throw .system(path: file, cause: "too many damaged files lie beside it")
    }

    private func write(_ contents: BondFile) throws(BondStoreError) {
        let text = Array(contents.text.utf8)
        // What is longer would not be read again.
        guard text.count <= longestFile else { throw BondStoreError(file, EFBIG) }
        let temporary = file + ".new"
        // Left behind by a process that was killed; the lock says that nobody writes it now.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(temporary) }
        var rest = text[...]
        var isWritten = true
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                isWritten = false
                break
            }
            rest = rest.dropFirst(count)
        }
        isWritten = isWritten && fsync(descriptor) == 0
        let error = failure(temporary)
        close(descriptor)
        guard isWritten else {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, file) == 0 else { throw failure(file) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(path) }
    }

    private func failure(_ path: String) -> BondStoreError { BondStoreError(path, errno) }

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
        "‘\(path)’ was damaged; \(keptBonds) of its bonds could be kept. It lies as ‘\(setAsideAs)’ now; devices that are "
            + "missing have to be paired again"
    }
}

extension Bond {
    fileprivate func hasSameKeys(as other: Bond) -> Bool {
        localKey == other.localKey && peerKey == other.peerKey && identityResolvingKey == other.identityResolvingKey
            && localSigningKey?.key == other.localSigningKey?.key && peerSigningKey?.key == other.peerSigningKey?.key
    }
}
