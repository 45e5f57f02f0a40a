import BLEStateFiles
import Glibc

/// Reads a text file line by line.
struct LineReader: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// The number of the last line, from 1.
    private(set) var lineNumber = 0

    /// Inputs of an engine are much shorter.
    private static let maximumLineByteCount = 1 << 20

    /// - Throws: `RecordingError.cannotRead`.
    init(path: String) throws(RecordingError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotRead(path: path, reason: systemErrorText(errno)) }
    }

    deinit { close(descriptor) }

    /// The next line that is not empty, without its line feed; `nil` at the end of the file. A last line without a line
    /// feed was cut off when its writer was killed, and is ignored.
    /// - Throws: `RecordingError.cannotRead`, `malformedLine` for an endless line.
    mutating func next() throws(RecordingError) -> [UInt8]? {
        while true {
            if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[position..<end])
                position = end + 1
                lineNumber += 1
                if !line.isEmpty { return line }
                continue
            }
            guard !isAtEnd else { return nil }
            guard buffer.count - position <= Self.maximumLineByteCount else {
                throw .malformedLine(path: path, line: lineNumber + 1, reason: "it is incomplete")
            }
            try fill()
        }
    }

    private mutating func fill() throws(RecordingError) {
        buffer.removeFirst(position)
        position = 0
        let chunk = 65536
        var bytes = [UInt8](repeating: 0, count: chunk)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, chunk) }
        if count < 0 {
            if errno == EINTR { return }
            throw .cannotRead(path: path, reason: systemErrorText(errno))
        }
        isAtEnd = count == 0
        buffer += bytes[..<count]
    }
}
