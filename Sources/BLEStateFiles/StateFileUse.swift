import Glibc

/// The purpose for which a state file is opened.
public enum StateFileUse: Hashable, Sendable {
    case reading
    /// Appending: each write goes to the end.
    case appending
    /// Writing from the beginning; the content is kept until then.
    case writing
    /// Locking: the file is empty.
    case locking

    var flags: Int32 {
        switch self {
        case .reading: O_RDONLY
        case .appending: O_WRONLY | O_APPEND
        case .writing: O_WRONLY
        case .locking: O_RDWR
        }
    }
}
