import BLEStateFiles
import Glibc

/// A file that does nothing but take room on the disk of the queue.
///
/// Removing messages needs a little room, for the log of SQLite. When the disk is full, this file gives it.
struct DiskReserve {
    private let path: String
    private let folder: String
    /// Its size in octets; the queue needs less than half of it at once to remove messages.
    let size: Int

    /// - Parameter path: that of the queue.
    init(besides path: String) {
        self.path = path + "-reserve"
        folder = OutputPlace.parts(path).folder
        let total = Self.room(of: folder)?.total ?? .max
        // The log, too, is a file that the limit of the process ends.
        let most = Self.fileLimit.map { max(64 << 10, $0 / 4) } ?? .max
        size = min(4 << 20, max(256 << 10, total / 16), most)
    }

    /// The size of the disk and what is free of it, in octets; `nil` if the system does not say it.
    var room: (total: Int, free: Int)? { Self.room(of: folder) }

    private static func room(of folder: String) -> (total: Int, free: Int)? {
        var found = statvfs()
        guard unsafe statvfs(folder, &found) == 0 else { return nil }
        func octets(_ blocks: UInt) -> Int {
            let (product, isOver) = blocks.multipliedReportingOverflow(by: found.f_frsize)
            return isOver ? .max : Int(clamping: product)
        }
        return (octets(found.f_blocks), octets(found.f_bavail))
    }

    /// Takes the room.
    /// - Returns: whether it is taken; otherwise nothing is.
    func take() -> Bool {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = unsafe open(path, flags, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        if posix_fallocate(file, 0, off_t(size)) == 0 { return true }
        release()
        return false
    }

    /// Gives the room back.
    func release() { unsafe unlink(path) }

    /// The largest file that this process may write, in octets; `nil`: no limit.
    static var fileLimit: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur < UInt(Int.max)
        else { return nil }
        return Int(limit.rlim_cur)
    }
}
