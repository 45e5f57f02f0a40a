import Glibc

/// Where the octets of a capture come from.
struct InputFile: ~Copyable {
    private let descriptor: Int32
    private let memory: [UInt8]
    private var position = 0
    /// Tests make reads short to move the borders of the buffer through the records.
    private let maximumReadByteCount: Int

    /// - Throws: why the system refused.
    init(path: String) throws(SystemError) {
        var opened: Int32
        repeat { opened = open(path, O_RDONLY | O_CLOEXEC) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw .last }
        descriptor = opened
        memory = []
        maximumReadByteCount = .max
    }

    /// Takes over an open descriptor, which may be a pipe.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        memory = []
        maximumReadByteCount = .max
    }

    init(memory: [UInt8], maximumReadByteCount: Int = .max) {
        descriptor = -1
        self.memory = memory
        self.maximumReadByteCount = maximumReadByteCount
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Fills the front of `buffer` and says how much came; 0 at the end of the file.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard descriptor >= 0 else {
            let count = min(buffer.count, memory.count - position, maximumReadByteCount)
            let end = position + count
            unsafe memory.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[position..<end])) }
            position = end
            return count
        }
        while true {
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }
}
