import Glibc

/// A file that the user named, read whole.
enum TextFile {
    /// - Parameter path: `-` is standard input.
    /// - Throws: `Failure` when it cannot be read.
    static func bytes(of path: String) throws -> [UInt8] {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if descriptor > 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    private static func unreadable(_ path: String) -> Failure {
        Failure("‘\(path)’ cannot be read: \(String(cString: strerror(errno)))", status: .usage)
    }
}
