import Glibc

/// The input file of a capture.
struct InputFile: ~Copyable {
    /// How often a wait for input checks its cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    private let descriptor: Int32
    private let memory: [UInt8]
    private var position = 0
    /// Tests shorten reads to move the boundaries of the buffer through the records.
    private let maximumReadByteCount: Int
    private let isCancelled: (@Sendable () -> Bool)?

    /// - Parameter isCancelled: ends a wait for the writer of a pipe.
    /// - Throws: why the system refused.
    init(path: String, isCancelled: (@Sendable () -> Bool)? = nil) throws(SystemError) {
        // `read` waits for the writer of a named pipe, not this initializer.
        let flags = O_RDONLY | O_CLOEXEC | (isCancelled == nil ? 0 : O_NONBLOCK)
        var opened: Int32
        repeat { opened = unsafe open(path, flags) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw .last }
        descriptor = opened
        memory = []
        maximumReadByteCount = .max
        self.isCancelled = isCancelled
    }

    /// Uses and later closes an open descriptor, which may be a pipe.
    init(descriptor: Int32, isCancelled: (@Sendable () -> Bool)? = nil) {
        self.descriptor = descriptor
        memory = []
        maximumReadByteCount = .max
        self.isCancelled = isCancelled
    }

    init(memory: [UInt8], maximumReadByteCount: Int = .max) {
        descriptor = -1
        self.memory = memory
        self.maximumReadByteCount = maximumReadByteCount
        isCancelled = nil
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Fills the front of `buffer` and returns the number of octets; 0 at the end of the file.
    /// - Throws: why the system refused; `ECANCELED` when it was cancelled.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard descriptor >= 0 else {
            let count = min(buffer.count, memory.count - position, maximumReadByteCount)
            let end = position + count
            unsafe memory.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[position..<end])) }
            position = end
            return count
        }
        while true {
            if let isCancelled { try awaitInput(isCancelled) }
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN && isCancelled != nil else { throw .last }
        }
    }

    /// Whether it can be read again from its start.
    var isSeekable: Bool { descriptor < 0 || lseek(descriptor, 0, SEEK_CUR) >= 0 }

    /// Goes back to the start.
    mutating func rewind() {
        position = 0
        if descriptor >= 0 { lseek(descriptor, 0, SEEK_SET) }
    }

    /// Waits until a read would not block; a file never blocks.
    private func awaitInput(_ isCancelled: () -> Bool) throws(SystemError) {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        repeat {
            if isCancelled() { throw SystemError(number: ECANCELED) }
        } while unsafe poll(&waited, 1, Self.cancellationCheckInterval) == 0
    }
}
