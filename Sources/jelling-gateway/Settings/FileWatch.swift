import BLEStateFiles
import Glibc
import Synchronization

/// Notices whether a file has changed, by its path: also if another file replaces it, if it is a link, if its folder
/// appears later, and on file systems that notify nothing.
final class FileWatch: Sendable {
    /// What the system says of a file. Two writings within one tick of the system's clock cannot be distinguished by
    /// that, so of a file that has just been changed it includes the content.
    private struct Look: Equatable {
        var numbers: [Int] = []
        var content: [UInt8]?
    }

    let path: String
    private let last: Mutex<Look>

    private static let sizeLimit = 4 << 20

    /// Remembers how the file is now.
    init(_ path: String) {
        self.path = path
        last = Mutex(Self.look(path))
    }

    /// Whether the file is different from what it was at the last call.
    func hasChanged() -> Bool {
        let now = Self.look(path)
        return last.withLock { last in
            defer { last = now }
            return last != now
        }
    }

    private static func look(_ path: String) -> Look {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return Look() }
        let changed = [information.st_mtim, information.st_ctim]
        var look = Look()
        look.numbers = [
            Int(truncatingIfNeeded: information.st_dev), Int(truncatingIfNeeded: information.st_ino),
            Int(information.st_size),
        ]
        look.numbers += changed.flatMap { [$0.tv_sec, $0.tv_nsec] }
        // A clock that was set back makes it only read the file more often.
        if time(nil) - information.st_ctim.tv_sec <= 2 {
            look.content = try? InputPlace.read(path, limit: sizeLimit)
        }
        return look
    }
}
