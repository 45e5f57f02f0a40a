import Glibc

/// Standard input, line by line. A wait for a line ends with the task that waits.
struct StandardInput {
    /// How often the wait for an answer checks for cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    private let descriptor: Int32
    private var bytes: [UInt8] = []
    /// Where the next line begins, and how far its end was looked for.
    private var (start, searched) = (0, 0)
    private var isAtEnd = false

    init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// The next line without its end; `nil` at the end of the input and when the task is cancelled.
    mutating func nextLine() async -> String? {
        while !Task.isCancelled {
            if let line = takeLine() { return line }
            if isAtEnd { return takeRest() }
            if await DescriptorWait.until(descriptor, POLLIN) { fill() }
        }
        return nil
    }

    /// The same while the thread waits: for a person's answer, without which nothing else goes on.
    mutating func answer() -> String? {
        while !Task.isCancelled {
            if let line = takeLine() { return line }
            if isAtEnd { return takeRest() }
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&waited, 1, Self.cancellationCheckInterval) > 0 { fill() }
        }
        return nil
    }

    /// `nil` if no line is whole.
    private mutating func takeLine() -> String? {
        guard let end = bytes[searched...].firstIndex(of: 0x0A) else {
            bytes.removeSubrange(..<start)
            (start, searched) = (0, bytes.count)
            return nil
        }
        defer { (start, searched) = (end + 1, end + 1) }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The last line, which has no end; `nil` if there is none.
    private mutating func takeRest() -> String? {
        defer { (bytes, searched) = ([], 0) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private mutating func fill() {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            bytes += chunk[..<count]
        } else if count == 0 || errno != EINTR && errno != EAGAIN {
            isAtEnd = true
        }
    }
}
