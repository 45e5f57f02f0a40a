import BLETransport
import Glibc

/// A file, whatever its name is.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// `nil` if there is no file of this kind.
    /// - Parameter kind: such as `S_IFSOCK`.
    init?(_ path: String, kind: mode_t) {
        var information = stat()
        guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == kind else { return nil }
        (device, number) = (information.st_dev, information.st_ino)
    }

    /// Why no file could be made at a path, and what to do; `nil` for an error of another kind.
    static func explained(_ code: Int32, _ path: String) -> TransportError? {
        switch code {
        case ENOENT, ENOTDIR: .unusableFile(path, reason: "its folder does not exist: make it first")
        case EACCES, EPERM, EROFS: .unusableFile(path, reason: "you may make no file there: name another path")
        case EEXIST: .unusableFile(path, reason: "another file has that name: name another path")
        default: nil
        }
    }
}
