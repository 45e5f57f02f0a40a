import Glibc

/// Opens a folder by its path, one component after the other, so that no other user decides where the path leads.
///
/// Each component belongs to this user or to root, whether it is a folder or a symbolic link. In a folder in which
/// others may write, they could replace it, so such a folder must be sticky, as `/tmp` is.
enum SafePath {
    private static let linkLimit = 40
    /// `O_PATH` (open(2)), which Glibc's module lacks: a folder that is only passed need not be readable.
    private static let passing: Int32 = 0o10_000_000

    /// - Parameters:
    ///   - path: the path of a folder; components may be links.
    ///   - isMade: whether missing folders are created with mode 0700.
    /// - Returns: a descriptor that the caller closes.
    static func open(_ path: String, isMade: Bool) throws(StateFileError) -> Int32 {
        var rest = components(path)
        var shown = path.hasPrefix("/") ? "" : "."
        var folder = try begin(path.hasPrefix("/") ? "/" : ".", path)
        defer { Glibc.close(folder) }
        var links = 0
        while let name = rest.popLast() {
            try checkFolder(folder, shown.isEmpty ? "/" : shown)
            let place = shown + "/" + name
            let information = try inspect(name, in: folder, place, path, isMade: isMade)
            guard name == ".." || SafeFolder.isOurs(information) else {
                throw .foreign(path: place, owner: information.st_uid)
            }
            switch information.st_mode & S_IFMT {
            case S_IFLNK:
                links += 1
                guard links <= linkLimit else { throw .system(path: path, code: ELOOP) }
                let target = try readLink(name, in: folder, place)
                rest += components(target)
                guard target.hasPrefix("/") else { continue }
                let root = try begin("/", path)
                Glibc.close(folder)
                (folder, shown) = (root, "")
            case S_IFDIR:
                let next = unsafe openat(folder, name, Self.passing | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard next >= 0 else { throw .last(place) }
                Glibc.close(folder)
                (folder, shown) = (next, place)
            default:
                throw .unexpected(path: place, .init(information.st_mode), wanted: .folder)
            }
        }
        // Until here, the folders on the way only had to be passed.
        let opened = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw .last(path) }
        return opened
    }

    /// The components, the first one last.
    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }

    private static func begin(_ place: String, _ path: String) throws(StateFileError) -> Int32 {
        let folder = unsafe Glibc.open(place, Self.passing | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .last(path) }
        return folder
    }

    /// A folder in which a component is looked up.
    private static func checkFolder(_ folder: Int32, _ place: String) throws(StateFileError) {
        var information = stat()
        guard unsafe fstat(folder, &information) == 0 else { throw .last(place) }
        let mode = information.st_mode & 0o7777
        guard SafeFolder.isOurs(information) else { throw .foreign(path: place, owner: information.st_uid) }
        guard mode & 0o002 == 0 || mode & S_ISVTX != 0 else { throw .writableByOthers(path: place, mode: mode) }
    }

    private static func inspect(
        _ name: String, in folder: Int32, _ place: String, _ path: String, isMade: Bool
    ) throws(StateFileError) -> stat {
        var information = stat()
        if unsafe fstatat(folder, name, &information, AT_SYMLINK_NOFOLLOW) == 0 { return information }
        guard errno == ENOENT, isMade else { throw .last(path) }
        guard unsafe mkdirat(folder, name, 0o700) == 0 || errno == EEXIST else { throw .last(place) }
        guard unsafe fstatat(folder, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else { throw .last(place) }
        return information
    }

    private static func readLink(_ name: String, in folder: Int32, _ place: String) throws(StateFileError) -> String {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe target.withUnsafeMutableBytes { octets in
            guard let start = octets.baseAddress else { return 0 }
            return unsafe readlinkat(folder, name, start.assumingMemoryBound(to: CChar.self), octets.count)
        }
        guard count >= 0 else { throw .last(place) }
        return String(decoding: target[..<count], as: UTF8.self)
    }
}
