import BLEStateFiles
import Glibc

/// Keeps other daemons from a state folder until it is released or the process ends: two would write over each other's
/// journals, and would take each other's apps for their own.
public struct StateLock {
    /// Why a folder cannot be used.
    public struct Problem: Error, CustomStringConvertible {
        /// The cause and the remedy.
        public let description: String
    }

    private let descriptor: Int32

    /// What a folder says that cannot be written, or has no room.
    private static let unwritable = [EROFS, EACCES, EPERM, ENOSPC, EDQUOT]

    /// A folder that cannot be written is not locked, as nothing is written there. Nor is one in a file system that
    /// has no locks.
    /// - Throws: `Problem` if another daemon uses the folder, or if it may not be used: it is another user's, for
    ///   example, or something else is in the place of the lock.
    public init(path: String) throws(Problem) {
        let opened: Int32
        do throws(StateFileError) {
            opened = try SafeFolder(path: path, isMade: true).openOrMake("bled.lock", .locking)
        } catch {
            guard let code = error.code, Self.unwritable.contains(code) else {
                throw Problem(description: "the state cannot be locked: \(error)")
            }
            opened = -1
        }
        descriptor = opened
        guard descriptor >= 0 else { return }
        // A daemon that was just killed may have begun to launch an app, which has its descriptors for a moment. This is
        // the start, before any loop runs: sleeping for a second at most holds up nothing.
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { return }
            usleep(50_000)
        }
        close(descriptor)
        throw Problem(description: "another bled uses ‘\(path)’; end it, or name another folder with ‘--state’")
    }

    /// Lets another daemon use the folder.
    public func release() {
        if descriptor >= 0 { close(descriptor) }
    }
}
