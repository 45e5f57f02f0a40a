import Glibc

/// Why a file or folder is not used. The text names it, the cause and the remedy.
public enum StateFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is not expected at a name.
    public enum Kind: String, Hashable, Sendable {
        case folder = "a folder"
        case pipe = "a pipe"
        case socket = "a socket"
        case device = "a device"
        case link = "a symbolic link"
        case file = "a file"
    }

    /// The system refused; `code` is `errno`.
    case system(path: String, code: Int32)
    /// Another user's, who may read it, change it or put something else there.
    case foreign(path: String, owner: UInt32)
    /// Others than the owner may write it; `mode` has its permission bits.
    case writableByOthers(path: String, mode: UInt32)
    /// Not what it has to be.
    case unexpected(path: String, Kind, wanted: Kind)
    /// The file has other names, so that what is written here is changed there.
    case severalNames(path: String)
    /// Longer than anything that is kept here.
    case tooLong(path: String)

    /// The file or folder.
    public var path: String {
        switch self {
        case .system(let path, _), .foreign(let path, _), .writableByOthers(let path, _),
            .unexpected(let path, _, _), .severalNames(let path), .tooLong(let path):
            path
        }
    }

    /// What is the matter with it, and what helps, as it goes on behind the path of something that is kept.
    public var cause: String { cause(or: "keep state in another folder (--state, JELLING_STATE)") }

    /// The same for a file that the user named for output.
    public var outputCause: String { cause(or: "choose another file") }

    private func cause(or elsewhere: String) -> String {
        switch self {
        case .system(_, let code):
            "cannot be used: \(systemErrorText(code)); make it writable, or \(elsewhere)"
        case .foreign(_, let owner):
            "is owned by user \(owner), not by you (user \(geteuid())): remove it, or \(elsewhere)"
        case .writableByOthers(_, let mode):
            "may be written by other users (mode \(String(mode, radix: 8))): check that nobody has changed it, then "
                + "use chmod go-w, or \(elsewhere)"
        case .unexpected(_, let kind, let wanted):
            "is \(kind.rawValue), not \(wanted.rawValue): remove it, or \(elsewhere)"
        case .severalNames:
            "has other names (hard links), which others may have made: remove it, or \(elsewhere)"
        case .tooLong: "is too long for a state file: remove it, or \(elsewhere)"
        }
    }

    public var description: String { "‘\(path)’ \(cause)" }

    /// The `errno` of the system; `nil` where something else is the matter.
    public var code: Int32? {
        if case .system(_, let code) = self { return code }
        return nil
    }

    /// Whether there is nothing of that name.
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// What the last failed call left in `errno`.
    static func last(_ path: String) -> Self { .system(path: path, code: errno) }
}

extension StateFileError.Kind {
    init(_ mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFLNK: self = .link
        case S_IFREG: self = .file
        default: self = .device
        }
    }
}
