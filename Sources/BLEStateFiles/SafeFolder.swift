import Glibc

/// A folder of this user's state, held open: what is in it is reached through it, whatever happens to its path.
///
/// The folder belongs to this user (or to root) and nobody else may write in it. What others could have put there is not
/// used: a file has to be regular, this user's or root's, with one name, and nobody else may write it. Names are followed
/// nowhere: a symbolic link is an error. Nothing waits for the other end of a pipe.
///
/// The path of the outermost folder is the user's own choice, so it may lead through links; where its last part is a link,
/// this user or root has to have made it. The folder above it has to be one in which nobody else can rename it.
public struct SafeFolder: ~Copyable {
    /// As it was named.
    public let path: String
    private let descriptor: Int32

    /// Opens a folder by its path.
    /// - Parameters:
    ///   - isMade: whether it and those above it are made where they are missing, for this user alone (mode 0700).
    ///   - isPrivate: whether it holds nothing but state: others may then not look into it either. Their permissions are
    ///     taken away.
    /// - Throws: `StateFileError`.
    public init(path: String, isMade: Bool, isPrivate: Bool = false) throws(StateFileError) {
        if isMade { try Self.make(path) }
        var information = stat()
        // Without a slash at its end, behind which a link is followed.
        let end = path.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.count
        if unsafe lstat(String(decoding: path.utf8.prefix(end), as: UTF8.self), &information) == 0,
            information.st_mode & S_IFMT == S_IFLNK
        {
            guard Self.isOurs(information) else {
                throw .foreign(path: path, owner: information.st_uid)
            }
        }
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw errno == ENOTDIR ? Self.notFolder(path) : .last(path) }
        try Self.secure(opened, path, isPrivate: isPrivate)
        do throws(StateFileError) { try Self.checkParent(of: opened, path) } catch {
            Glibc.close(opened)
            throw error
        }
        self.path = path
        descriptor = opened
    }

    /// Who may rename in the folder above could put another of this user's folders into the place of this one.
    private static func checkParent(of folder: Int32, _ path: String) throws(StateFileError) {
        var information = stat()
        guard unsafe fstatat(folder, "..", &information, 0) == 0 else { throw .last(path) }
        let mode = information.st_mode & 0o7777
        guard isOurs(information) else { throw .foreign(path: path + "/..", owner: information.st_uid) }
        guard mode & 0o002 == 0 || mode & S_ISVTX != 0 else {
            throw .writableByOthers(path: path + "/..", mode: mode)
        }
    }

    /// - Parameter descriptor: of a folder that was looked at.
    private init(descriptor: Int32, path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    /// A folder in this one, for this user alone; it is made where it is missing.
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

    /// Takes from others what they may not do. A folder that everybody shares stays as it is, and is refused.
    private static func close(
        _ descriptor: Int32, _ path: String, _ information: stat, isPrivate: Bool
    ) throws(StateFileError) {
        let mode = information.st_mode & 0o7777
        let isShared = mode & (S_ISVTX | S_ISGID) != 0 || information.st_uid != geteuid()
        let excess = mode & (isPrivate ? 0o077 : 0o022)
        guard excess != 0 else { return }
        // With a mask of 002, which many systems have, every folder is made with the group's write permission.
        if !isShared, isPrivate || excess & 0o002 == 0 {
            guard fchmod(descriptor, mode & ~excess) == 0 else { throw .last(path) }
        } else if excess & 0o022 != 0 {
            throw .writableByOthers(path: path, mode: mode)
        }
    }

    /// This user's or root's.
    static func isOurs(_ information: stat) -> Bool { information.st_uid == geteuid() || information.st_uid == 0 }

    private static func make(_ path: String) throws(StateFileError) {
        var part = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            part += "/" + component
            guard unsafe mkdir(part, 0o700) == 0 || errno == EEXIST else {
                throw errno == ENOTDIR ? notFolder(part) : .last(part)
            }
        }
    }

    /// The part of a path that is no folder.
    private static func notFolder(_ path: String) -> StateFileError {
        var part = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            part += "/" + component
            var information = stat()
            guard unsafe stat(part, &information) == 0 else { break }
            if information.st_mode & S_IFMT != S_IFDIR {
                return .unexpected(path: part, .init(information.st_mode), wanted: .folder)
            }
        }
        return .system(path: path, code: ENOTDIR)
    }

    /// The path of a name in this folder.
    public func place(_ name: String) -> String { path + "/" + name }

    // MARK: Opening files

    /// Opens a file that is there already.
    /// - Returns: a descriptor that the caller closes; `nil` where there is no such file.
    /// - Throws: `StateFileError`; nothing was changed in the file.
    public func open(_ name: String, _ use: StateFileUse) throws(StateFileError) -> Int32? {
        let descriptor = unsafe openat(descriptor, name, use.flags | Self.guards)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw problem(name, wanted: .file)
        }
        return try checked(descriptor, name)
    }

    /// Opens a file, or makes it, for this user alone.
    /// - Returns: a descriptor that the caller closes.
    /// - Throws: `StateFileError`; nothing was changed in the file.
    public func openOrMake(_ name: String, _ use: StateFileUse) throws(StateFileError) -> Int32 {
        // What is there is never opened for creation: between both another process may make it or remove it.
        for _ in 0..<100 {
            if let descriptor = try open(name, use) { return descriptor }
            let made = unsafe openat(descriptor, name, use.flags | Self.guards | O_CREAT | O_EXCL, 0o600)
            if made >= 0 { return made }
            guard errno == EEXIST else { throw .last(place(name)) }
        }
        throw .system(path: place(name), code: EEXIST)
    }

    /// Neither follows a link nor waits for the other end of a pipe, nor becomes the terminal of the process.
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
                // Others could read it, as in a copy from elsewhere. They cannot any more.
                if fchmod(file, information.st_mode & 0o700) != 0 { error = .last(place(name)) }
            }
        }
        guard let error else { return file }
        Glibc.close(file)
        throw error
    }

    /// Why a file is not used; `nil` for one that is.
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

    /// Why a name could not be opened, in the words of what stands there.
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

    /// What a file holds.
    /// - Parameter limit: the most octets that it may have.
    /// - Returns: `nil` where there is no such file.
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

    /// Puts a file with this content in the place of the one that is there, if any: whoever looks finds the old or the new
    /// one, whenever this process is killed.
    /// - Parameter isAlone: whether no other process replaces it now, as under a lock: what killed ones left is removed at
    ///   once, otherwise after an hour.
    /// - Throws: `StateFileError`; the old file is as it was.
    public func replace(_ name: String, with bytes: [UInt8], isAlone: Bool = false) throws(StateFileError) {
        // Not to have its content, and yet not in silence: it might be a sign of something wrong.
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

    /// Makes a file with this content where there is none of that name.
    /// - Returns: whether it was made; what is there stays.
    /// - Throws: `StateFileError`.
    public func create(_ name: String, with bytes: [UInt8]) throws(StateFileError) -> Bool {
        sweep(name, isAlone: false)
        let temporary = try make(name, bytes)
        // A link does not replace: of two processes that start together, one makes the file.
        let isMade = unsafe linkat(descriptor, temporary, descriptor, name, 0) == 0
        let code = isMade ? 0 : errno
        // Killed before this, it has two names, of which `checked` removes this one.
        unsafe unlinkat(descriptor, temporary, 0)
        guard isMade || code == EEXIST else { throw .system(path: place(name), code: code) }
        guard fsync(descriptor) == 0 else { throw .last(path) }
        return isMade
    }

    /// Keeps what a file held under the first free name of `name.suffix-1`, `name.suffix-2` and so on; the file stays.
    /// - Returns: the path of what was kept.
    /// - Throws: `StateFileError`; `EEXIST` where a thousand of them lie there already.
    public func keep(_ bytes: [UInt8], of name: String, _ suffix: String) throws(StateFileError) -> String {
        for number in 1...1000 {
            let other = "\(name).\(suffix)-\(number)"
            // Those of before stay.
            if !contains(other), try create(other, with: bytes) { return place(other) }
        }
        throw .system(path: place(name), code: EEXIST)
    }

    /// Removes a name; nothing where there is none.
    public func remove(_ name: String) { unsafe unlinkat(descriptor, name, 0) }

    /// Whether something has that name, whatever it is.
    public func contains(_ name: String) -> Bool {
        var information = stat()
        return unsafe fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// A new file with this content, brought to the disk.
    /// - Returns: its name, which nobody can foresee.
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

    /// Removes what killed processes left of a file that they were making.
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
