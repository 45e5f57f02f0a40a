import Glibc

/// Opens files that the user named for output, such as captures and pages, in any folder.
///
/// Such a file may be a pipe or a device, may belong to another user, and its path may contain links. But in a folder
/// where others may write, such as `/tmp`, files of other users are refused: a link to a private file, a pipe that
/// another process reads, or a file that its owner can read. Files with keys (`isSecret`) must be regular files of this
/// user with one name, everywhere.
public enum OutputPlace {
    /// Opens a file for writing, or creates it with access for this user only. Its content does not change.
    /// - Parameters:
    ///   - isSecret: whether only this user may see what will be written, such as keys.
    ///   - permissions: the mode of a new file.
    /// - Returns: a descriptor that the caller closes, and whether the file is new.
    /// - Throws: `StateFileError`.
    public static func open(
        _ path: String, isSecret: Bool, permissions: UInt32 = 0o600
    ) throws(StateFileError) -> (descriptor: Int32, isNew: Bool) {
        let (folderPath, name) = parts(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .unexpected(path: path, .folder, wanted: .file) }
        // Only to look up names in it: a folder may be searchable but not readable.
        let folder = unsafe Glibc.open(folderPath, Self.onlyToName | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .last(path) }
        defer { Glibc.close(folder) }
        var information = stat()
        guard unsafe fstat(folder, &information) == 0 else { throw .last(path) }
        let sharing = Sharing(information)
        for _ in 0..<100 {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY
            let made = unsafe openat(folder, name, flags, mode_t(permissions))
            if made >= 0 { return (made, true) }
            guard errno == EEXIST else { throw .last(path) }
            if let file = try existing(folder, name, path, sharing, isSecret: isSecret) { return (file, false) }
        }
        throw .system(path: path, code: EEXIST)
    }

    /// `O_PATH`, which the C library declares only with GNU extensions.
    private static let onlyToName: Int32 = 0o10000000

    /// - Returns: `nil` if it was removed meanwhile.
    private static func existing(
        _ folder: Int32, _ name: String, _ path: String, _ sharing: Sharing, isSecret: Bool
    ) throws(StateFileError) -> Int32? {
        var before = stat()
        guard unsafe fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw .last(path)
        }
        let kind = StateFileError.Kind(before.st_mode)
        if isSecret {
            guard kind == .file else { throw .unexpected(path: path, kind, wanted: .file) }
            guard before.st_uid == geteuid() else { throw .foreign(path: path, owner: before.st_uid) }
            guard before.st_nlink == 1 else { throw .severalNames(path: path) }
        } else if sharing != .none {
            guard SafeFolder.isOurs(before) else { throw .foreign(path: path, owner: before.st_uid) }
            // Only in a folder where each user can remove only his own files can no other user have put it there
            // meanwhile.
            if kind == .link, sharing == .free { throw .unexpected(path: path, kind, wanted: .file) }
            if kind == .file, before.st_nlink != 1 { throw .severalNames(path: path) }
        }
        let isFollowed = kind == .link && !isSecret
        var flags = O_WRONLY | O_CLOEXEC | O_NOCTTY
        if !isFollowed { flags |= O_NOFOLLOW }
        if isSecret { flags |= O_NONBLOCK }
        var file: Int32
        repeat { file = unsafe openat(folder, name, flags) } while file < 0 && errno == EINTR
        if file < 0, errno == ENOENT {
            guard isFollowed else { return nil }
            // The link's target does not exist: the file is created there.
            repeat { file = unsafe openat(folder, name, flags | O_CREAT, 0o600) } while file < 0 && errno == EINTR
        }
        guard file >= 0 else { throw .last(path) }
        var after = stat()
        guard unsafe fstat(file, &after) == 0,
            isFollowed || after.st_dev == before.st_dev && after.st_ino == before.st_ino
        else {
            Glibc.close(file)
            return nil
        }
        if isSecret, after.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
        return file
    }

    /// Which other users can put files into a folder.
    private enum Sharing {
        case none
        /// Others can, and each removes only his own files, as in `/tmp`.
        case sticky
        case free

        init(_ folder: stat) {
            // Many systems give each user a group with the same number, and a mask that lets it write.
            let isOwnGroup = folder.st_gid == getegid() && folder.st_gid == geteuid()
            let isShared = folder.st_mode & 0o002 != 0 || folder.st_mode & 0o020 != 0 && !isOwnGroup
            self = !isShared ? .none : folder.st_mode & S_ISVTX != 0 ? .sticky : .free
        }
    }

    /// Splits a path at its last slash; `.` is the folder of a path without one.
    public static func parts(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = String(path[..<slash])
        return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
    }
}
