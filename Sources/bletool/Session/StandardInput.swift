import Glibc

/// Standard input, line by line. A wait for a line ends with the task that waits.
struct StandardInput {
    /// How often a wait checks for cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// The next line without its end; `nil` at the end of the input and when the task is cancelled.
    mutating func nextLine() -> String? {
        var searched = start
        while !Task.isCancelled {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return String(decoding: bytes[start..<end], as: UTF8.self)
            }
            bytes.removeSubrange(..<start)
            start = 0
            searched = bytes.count
            if isAtEnd {
                defer { bytes = [] }
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
            fill()
        }
        return nil
    }

    private mutating func fill() {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waited, 1, Self.cancellationCheckInterval) > 0 else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            bytes += chunk[..<count]
        } else if count == 0 || errno != EINTR && errno != EAGAIN {
            isAtEnd = true
        }
    }
}
