import Glibc

/// Writes to a descriptor whose reader may be slow, and waits for it until the program is interrupted.
///
/// A blocking write cannot be interrupted, because signals go to another thread. So this waits until there is room,
/// checks for an interruption, and writes no more than fits at once.
final class PatientWriter: Sendable {
    /// How often a wait checks for an interruption, in milliseconds.
    private static let slice: Int32 = 100
    /// `fcntl`: the capacity of a pipe (`F_GETPIPE_SZ`, which needs `_GNU_SOURCE`).
    private static let getPipeSize: Int32 = 1032

    private let descriptor: Int32
    private let interruption: Interruption
    /// How many octets a descriptor with any room accepts without blocking.
    private let pieceByteCount: Int
    /// How many octets an empty pipe accepts without blocking; 0 if it is not a pipe.
    private let pipeByteCount: Int
    private let isOwnDescriptor: Bool

    init(_ descriptor: Int32, interruption: Interruption) {
        // A terminal can report room for less than a line. It is opened again as non-blocking, because the descriptor
        // itself is shared with other programs that expect it to block.
        let own =
            unsafe isatty(descriptor) == 1
            ? open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1
        isOwnDescriptor = own >= 0
        self.descriptor = own >= 0 ? own : descriptor
        self.interruption = interruption
        var status = stat()
        let kind = unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        pipeByteCount = kind == S_IFIFO ? Int(max(0, fcntl(descriptor, Self.getPipeSize))) : 0
        pieceByteCount =
            switch kind {
            case S_IFIFO, S_IFSOCK: Int(PIPE_BUF)
            default: .max
            }
    }

    deinit {
        if isOwnDescriptor { close(descriptor) }
    }

    /// - Returns: the error of the system; `ETIMEDOUT` if there was no room in time; `nil` if all octets were written.
    func write(_ bytes: RawSpan) -> Int32? {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                guard awaitRoom() else { return ETIMEDOUT }
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(room(for: rest.count)))
                let count = unsafe Glibc.write(descriptor, piece.baseAddress, piece.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    guard errno == EAGAIN else { return errno }
                    // There is room, and too little of it.
                    if isTimedOut { return ETIMEDOUT }
                    usleep(10_000)
                    continue
                }
                unsafe rest = rest.dropFirst(count)
            }
            return nil
        }
    }

    /// How many of `count` octets are accepted at once, now that there is room.
    private func room(for count: Int) -> Int {
        var waiting: Int32 = 0
        guard count > pieceByteCount, pipeByteCount > pieceByteCount,
            unsafe ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting == 0
        else { return pieceByteCount }
        return pipeByteCount
    }

    /// - Returns: `false` when there was none until it was too late to wait.
    private func awaitRoom() -> Bool {
        while true {
            let isLastLook = isTimedOut
            var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if unsafe poll(&waited, 1, isLastLook ? 0 : Self.slice) != 0 { return true }
            if isLastLook { return false }
        }
    }

    private var isTimedOut: Bool {
        guard let requestTime = interruption.requestTime else { return false }
        return requestTime.duration(to: .now) >= Interruption.outputTimeout
    }
}
