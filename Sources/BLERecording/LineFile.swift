import Glibc

/// A text file that is written line by line, each line in one write, so that the file of a killed process can be read.
struct LineFile: ~Copyable {
    private let descriptor: Int32

    /// Uses and later closes the descriptor of an empty file.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// - Returns: whether the whole line was written.
    func write(_ line: [UInt8]) -> Bool {
        var rest = line[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
