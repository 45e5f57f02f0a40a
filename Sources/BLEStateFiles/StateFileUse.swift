import Glibc

/// What a file of state is opened for.
public enum StateFileUse: Hashable, Sendable {
    case reading
    /// Each write goes to the end.
    case appending
    /// To write it from its beginning; what it holds stays until then.
    case writing
    /// As a lock: it holds nothing.
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
