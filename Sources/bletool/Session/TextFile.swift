import BLEStateFiles
import Glibc

/// A file that the user named, read whole. A wait for a pipe ends with the task that waits.
enum TextFile {
    /// How long a cancelled task may go on waiting, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    /// What people write is far shorter: a device that never ends does not fill the memory.
    private static let greatestByteCount = 16 << 20

    /// - Parameter path: `-` is standard input.
    /// - Throws: `Failure` when it cannot be read.
    static func bytes(of path: String) throws -> [UInt8] {
        // A named pipe that nobody writes into yet is waited for below, not here.
        let descriptor = unsafe path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if descriptor > 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            repeat {
                if Task.isCancelled { throw Failure.interrupted }
            } while unsafe poll(&waited, 1, cancellationCheckInterval) == 0
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= greatestByteCount else {
                throw Failure("‘\(path)’ is longer than 16 MiB: it is no file that people write", status: .usage)
            }
        }
    }

    private static func unreadable(_ path: String) -> Failure {
        Failure("‘\(path)’ cannot be read: \(systemErrorText(errno))", status: .usage)
    }
}
