import Glibc

/// A text file that grows by whole lines, each in one write, so that what a killed process leaves can be read.
struct LineFile: ~Copyable {
    private let descriptor: Int32

    /// Creates the file, or empties it. Only its owner may read it: a recording holds keys.
    /// - Throws: `RecordingError.cannotWrite`.
    init(path: String) throws(RecordingError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: String(cString: strerror(errno))) }
        // A file that was there before keeps its mode.
        fchmod(descriptor, 0o600)
    }

    deinit { close(descriptor) }

    /// - Returns: whether the line went out whole.
    func write(_ line: [UInt8]) -> Bool {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
