import Glibc

/// Why a file or folder is refused. The text names it, the cause and the remedy.
public enum StateFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a file.
    public enum Kind: String, Hashable, Sendable {
        case folder = "a folder"
        case pipe = "a pipe"
        case socket = "a socket"
        case device = "a device"
        case link = "a symbolic link"
        case file = "a file"
    }

    /// A system call failed; `code` is `errno`.
    case system(path: String, code: Int32)
    /// It belongs to another user, who can read, change or replace it.
    case foreign(path: String, owner: UInt32)
    /// Users other than the owner may write it; `mode` has its permission bits.
    case writableByOthers(path: String, mode: UInt32)
    /// It is of the wrong kind.
    case unexpected(path: String, Kind, wanted: Kind)
    /// The file has other names (hard links), so that writing it changes a file elsewhere.
    case severalNames(path: String)
    /// It is longer than the limit.
    case tooLong(path: String)

    /// The file or folder.
    public var path: String {
        switch self {
        case .system(let path, _), .foreign(let path, _), .writableByOthers(let path, _),
            .unexpected(let path, _, _), .severalNames(let path), .tooLong(let path):
            path
        }
    }

    /// The cause and the remedy, to follow the path of a state file.
    public var cause: String { cause(or: "keep state in another folder (--state, JELLING_STATE)") }

    /// The cause and the remedy for a file that the user named for output.
    public var outputCause: String { cause(or: "choose another file") }

    /// The cause, for a file that the user named for input.
    public var inputCause: String {
        switch self {
        case .system(_, let code): "cannot be read: \(systemErrorText(code))"
        case .unexpected(_, let kind, let wanted): "is \(kind.rawValue), not \(wanted.rawValue)"
        case .tooLong: "is too long"
        case .foreign, .writableByOthers, .severalNames: cause(or: "choose another file")
        }
    }

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

    /// The `errno` of the system; `nil` for other causes.
    public var code: Int32? {
        if case .system(_, let code) = self { return code }
        return nil
    }

    /// Whether there is no file with that name.
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// The `errno` of the last failed call.
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
