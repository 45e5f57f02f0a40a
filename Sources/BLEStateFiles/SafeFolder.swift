import Glibc

/// An open folder with state of this user. Its files are accessed through its descriptor, even if its path changes.
///
/// The folder belongs to this user or to root, and no one else may write to it. Files that others could have put there
/// are refused: a file must be a regular file of this user or root with one name, which no one else may write. Symbolic
/// links are errors. Opening never waits for the other end of a pipe.
///
/// The user chooses the path of the outermost folder, so it may contain links. Each component of it, a link or a
/// folder, belongs to this user or to root, and no one else may be able to replace it in the folder that it is in.
public struct SafeFolder: ~Copyable {
    /// The path as it was given.
    public let path: String
    private let descriptor: Int32

    /// Opens a folder by its path.
    /// - Parameters:
    ///   - isMade: whether missing folders of the path are created with mode 0700.
    ///   - isPrivate: whether it contains only state: then others may not read it either; their permissions are
    ///     removed.
    /// - Throws: `StateFileError`.
    public init(path: String, isMade: Bool, isPrivate: Bool = false) throws(StateFileError) {
        let opened = try SafePath.open(path, isMade: isMade)
        try Self.secure(opened, path, isPrivate: isPrivate)
        do throws(StateFileError) { try Self.checkParent(of: opened, path) } catch {
            Glibc.close(opened)
            throw error
        }
        self.path = path
        descriptor = opened
    }

    /// A user who may rename in the parent folder could replace this folder by another one of this user.
    private static func checkParent(of folder: Int32, _ path: String) throws(StateFileError) {
        var information = stat()
        guard unsafe fstatat(folder, "..", &information, 0) == 0 else { throw .last(path) }
        let mode = information.st_mode & 0o7777
        guard isOurs(information) else { throw .foreign(path: path + "/..", owner: information.st_uid) }
        guard mode & 0o002 == 0 || mode & S_ISVTX != 0 else {
            throw .writableByOthers(path: path + "/..", mode: mode)
        }
    }

    /// - Parameter descriptor: the descriptor of a checked folder.
    private init(descriptor: Int32, path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a folder in this one, or creates it, with access for this user only.
    /// - Throws: `StateFileError`.
    public func folder(_ name: String) throws(StateFileError) -> SafeFolder {
        let path = place(name)
        guard unsafe mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else { throw .last(path) }
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let opened = unsafe openat(descriptor, name, flags)
        guard opened >= 0 else { throw problem(name, wanted: .folder) }
        try Self.secure(opened, path, isPrivate: true)
        return SafeFolder(descriptor: opened, path: path)
    }

    deinit { Glibc.close(descriptor) }

    /// Closes the descriptor when it throws.
    private static func secure(_ folder: Int32, _ path: String, isPrivate: Bool) throws(StateFileError) {
        var information = stat()
        do throws(StateFileError) {
            guard unsafe fstat(folder, &information) == 0 else { throw .last(path) }
            guard isOurs(information) else { throw .foreign(path: path, owner: information.st_uid) }
            try close(folder, path, information, isPrivate: isPrivate)
        } catch {
            Glibc.close(folder)
            throw error
        }
    }

    /// Removes permissions of others. A shared folder is not changed but refused.
    private static func close(
        _ descriptor: Int32, _ path: String, _ information: stat, isPrivate: Bool
    ) throws(StateFileError) {
        let mode = information.st_mode & 0o7777
        let isShared = mode & (S_ISVTX | S_ISGID) != 0 || information.st_uid != geteuid()
        let excess = mode & (isPrivate ? 0o077 : 0o022)
        guard excess != 0 else { return }
        // With a mask of 002, which many systems use, new folders are writable for the group.
        if !isShared, isPrivate || excess & 0o002 == 0 {
            guard fchmod(descriptor, mode & ~excess) == 0 else { throw .last(path) }
        } else if excess & 0o022 != 0 {
            throw .writableByOthers(path: path, mode: mode)
        }
    }

    /// Whether this user or root is the owner.
    static func isOurs(_ information: stat) -> Bool { information.st_uid == geteuid() || information.st_uid == 0 }

    /// Returns the path of a name in this folder.
    public func place(_ name: String) -> String { path + "/" + name }

    // MARK: Opening files

    /// Opens an existing file.
    /// - Returns: a descriptor that the caller closes; `nil` if there is no such file.
    /// - Throws: `StateFileError`; nothing was changed in the file.
    public func open(_ name: String, _ use: StateFileUse) throws(StateFileError) -> Int32? {
        let descriptor = unsafe openat(descriptor, name, use.flags | Self.guards)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw problem(name, wanted: .file)
        }
        return try checked(descriptor, name)
    }

    /// Opens a file, or creates it with access for this user only.
    /// - Returns: a descriptor that the caller closes.
    /// - Throws: `StateFileError`; nothing was changed in the file.
    public func openOrMake(_ name: String, _ use: StateFileUse) throws(StateFileError) -> Int32 {
        // An existing file is never opened with `O_CREAT`: another process may create or remove it between the two
        // calls.
        for _ in 0..<100 {
            if let descriptor = try open(name, use) { return descriptor }
            let made = unsafe openat(descriptor, name, use.flags | Self.guards | O_CREAT | O_EXCL, 0o600)
            if made >= 0 { return made }
            guard errno == EEXIST else { throw .last(place(name)) }
        }
        throw .system(path: place(name), code: EEXIST)
    }

    /// Does not follow links, does not wait for the other end of a pipe, does not become the terminal of the process.
    private static let guards = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Closes the descriptor when it throws.
    private func checked(_ file: Int32, _ name: String) throws(StateFileError) -> Int32 {
        var information = stat()
        var error: StateFileError?
        if unsafe fstat(file, &information) == 0, information.st_nlink > 1, information.st_mode & S_IFMT == S_IFREG {
            removeLeftovers(of: name) { $0.st_ino == information.st_ino && $0.st_dev == information.st_dev }
        }
        if unsafe fstat(file, &information) != 0 {
            error = .last(place(name))
        } else {
            error = Self.problem(of: information, path: place(name))
            if error == nil, information.st_mode & 0o077 != 0, information.st_uid == geteuid() {
                // Others could read it, as after copying it. Their permissions are removed.
                if fchmod(file, information.st_mode & 0o700) != 0 { error = .last(place(name)) }
            }
        }
        guard let error else { return file }
        Glibc.close(file)
        throw error
    }

    /// Why a file is refused; `nil` if it is accepted.
    static func problem(of information: stat, path: String) -> StateFileError? {
        guard information.st_mode & S_IFMT == S_IFREG else {
            return .unexpected(path: path, .init(information.st_mode), wanted: .file)
        }
        guard isOurs(information) else { return .foreign(path: path, owner: information.st_uid) }
        guard information.st_mode & 0o022 == 0 else {
            return .writableByOthers(path: path, mode: information.st_mode & 0o7777)
        }
        return information.st_nlink == 1 ? nil : .severalNames(path: path)
    }

    /// Why a name could not be opened, by the kind of the existing file.
    private func problem(_ name: String, wanted: StateFileError.Kind) -> StateFileError {
        let code = errno
        var information = stat()
        if [ELOOP, ENXIO, ENODEV, EISDIR, ENOTDIR].contains(code),
            unsafe fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
        {
            let kind = StateFileError.Kind(information.st_mode)
            if kind != wanted { return .unexpected(path: place(name), kind, wanted: wanted) }
        }
        return .system(path: place(name), code: code)
    }

    // MARK: Reading and writing

    /// Reads a file.
    /// - Parameter limit: the maximum length in octets.
    /// - Returns: `nil` if there is no such file.
    /// - Throws: `StateFileError`.
    public func read(_ name: String, limit: Int) throws(StateFileError) -> [UInt8]? {
        guard let file = try open(name, .reading) else { return nil }
        defer { Glibc.close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit + 1, 65536))
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last(place(name)) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw .tooLong(path: place(name)) }
        }
    }

    /// Replaces a file, or creates it. Readers find the old or the new content, even if this process is killed.
    /// - Parameter isAlone: whether no other process replaces it now, for example under a lock: leftovers of killed
    ///   processes are removed at once, otherwise after an hour.
    /// - Throws: `StateFileError`; the old file is unchanged.
    public func replace(_ name: String, with bytes: [UInt8], isAlone: Bool = false) throws(StateFileError) {
        // Only to check it: an unexpected file is an error, because it may be a sign of an attack.
        if let old = try open(name, .reading) { Glibc.close(old) }
        sweep(name, isAlone: isAlone)
        let temporary = try make(name, bytes)
        guard unsafe renameat(descriptor, temporary, descriptor, name) == 0 else {
            let error = StateFileError.last(place(name))
            unsafe unlinkat(descriptor, temporary, 0)
            throw error
        }
        guard fsync(descriptor) == 0 else { throw .last(path) }
    }

    /// Creates a file with this content if there is none with that name.
    /// - Returns: whether it was created; an existing file is not changed.
    /// - Throws: `StateFileError`.
    public func create(_ name: String, with bytes: [UInt8]) throws(StateFileError) -> Bool {
        sweep(name, isAlone: false)
        let temporary = try make(name, bytes)
        // A link does not replace: of two processes that start together, only one creates the file.
        let isMade = unsafe linkat(descriptor, temporary, descriptor, name, 0) == 0
        let code = isMade ? 0 : errno
        // If the process is killed before this, the file has two names; `checked` removes this one.
        unsafe unlinkat(descriptor, temporary, 0)
        guard isMade || code == EEXIST else { throw .system(path: place(name), code: code) }
        guard fsync(descriptor) == 0 else { throw .last(path) }
        return isMade
    }

    /// Saves a file's content under the first free name of `name.suffix-1`, `name.suffix-2` and so on; the file itself
    /// is not changed.
    /// - Returns: the path of the copy.
    /// - Throws: `StateFileError`; `EEXIST` if there are a thousand already.
    public func preserve(_ bytes: [UInt8], of name: String, _ suffix: String) throws(StateFileError) -> String {
        for number in 1...1000 {
            let other = "\(name).\(suffix)-\(number)"
            // Earlier copies are kept.
            if !contains(other), try create(other, with: bytes) { return place(other) }
        }
        throw .system(path: place(name), code: EEXIST)
    }

    /// Removes a name, if it exists.
    public func remove(_ name: String) { unsafe unlinkat(descriptor, name, 0) }

    /// Whether a file of any kind has that name.
    public func contains(_ name: String) -> Bool {
        var information = stat()
        return unsafe fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Creates a new file with this content and syncs it.
    /// - Returns: its name, which is unpredictable.
    private func make(_ name: String, _ bytes: [UInt8]) throws(StateFileError) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
        let temporary = Self.prefix(name) + String(repeating: "0", count: 16 - digits.utf8.count) + digits
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe openat(descriptor, temporary, flags, 0o600)
        guard file >= 0 else { throw .last(place(name)) }
        defer { Glibc.close(file) }
        let code = Self.write(bytes, to: file)
        guard code == 0, fsync(file) == 0 else {
            let error = StateFileError.system(path: place(name), code: code == 0 ? errno : code)
            unsafe unlinkat(descriptor, temporary, 0)
            throw error
        }
        return temporary
    }

    private static func prefix(_ name: String) -> String { ".\(name)." }

    /// Removes unfinished files of killed processes.
    private func sweep(_ name: String, isAlone: Bool) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        removeLeftovers(of: name) { isAlone || $0.st_mtim.tv_sec < now.tv_sec - 3600 }
    }

    private func removeLeftovers(of name: String, where isLeft: (stat) -> Bool) {
        let opened = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0, let stream = unsafe fdopendir(opened) else { return }
        defer { unsafe closedir(stream) }
        let prefix = Self.prefix(name)
        while let entry = unsafe readdir(stream) {
            let found = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard found.hasPrefix(prefix), found.utf8.count == prefix.utf8.count + 16 else { continue }
            var information = stat()
            guard unsafe fstatat(descriptor, found, &information, AT_SYMLINK_NOFOLLOW) == 0,
                isLeft(information)
            else { continue }
            unsafe unlinkat(descriptor, found, 0)
        }
    }

    /// Writes everything.
    /// - Returns: zero, or `errno`.
    public static func write(_ bytes: [UInt8], to file: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? ENOSPC : errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}
