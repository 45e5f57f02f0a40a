import BLEStateFiles
import Glibc

/// Reads a whole file that the user named. Cancelling the task ends a wait for a pipe.
enum TextFile {
    /// How often a wait checks for cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    /// Far more than people write, so that an endless device does not fill the memory.
    private static let greatestByteCount = 16 << 20

    /// - Parameter path: `-` is standard input.
    /// - Throws: `Failure` when it cannot be read.
    static func bytes(of path: String) throws -> [UInt8] {
        // A named pipe without a writer is awaited below, not here.
        let descriptor = unsafe path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if descriptor > 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            try awaitInput(descriptor)
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= greatestByteCount else {
                throw Failure("‘\(path)’ is longer than 16 MiB, the limit for such a file", status: .usage)
            }
        }
    }

    /// The next octet of a descriptor that others read after this; `nil` at its end.
    /// - Throws: `Failure` when it cannot be read.
    static func octet(ofInput descriptor: Int32) throws -> UInt8? {
        var octet: UInt8 = 0
        while true {
            try awaitInput(descriptor)
            let count = unsafe read(descriptor, &octet, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw unreadable("-") }
            return count == 0 ? nil : octet
        }
    }

    private static func awaitInput(_ descriptor: Int32) throws {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        repeat {
            if Task.isCancelled { throw Failure.interrupted }
        } while unsafe poll(&waited, 1, cancellationCheckInterval) == 0
    }

    private static func unreadable(_ path: String) -> Failure {
        Failure("‘\(path)’ cannot be read: \(systemErrorText(errno))", status: .usage)
    }
}
