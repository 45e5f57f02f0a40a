import Glibc

/// Reads small files that the user named for input, such as settings and passwords, in any folder.
///
/// Such a file may belong to another user, and its path may contain links. But it must be a regular file: a pipe or a
/// device could make its reader wait for ever, or never end.
public enum InputPlace {
    /// Reads a whole file.
    /// - Parameter limit: the maximum length in octets.
    /// - Throws: `StateFileError`.
    public static func read(_ path: String, limit: Int) throws(StateFileError) -> [UInt8] {
        let file = try open(path, limit)
        defer { Glibc.close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 65535) + 1)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last(path) }
            if count == 0 { return bytes }
            guard count <= limit - bytes.count else { throw .tooLong(path: path) }
            bytes += chunk[..<count]
        }
    }

    /// Checks that `read` could read a file, for a library that reads it by itself.
    /// - Throws: `StateFileError`.
    public static func check(_ path: String, limit: Int) throws(StateFileError) {
        Glibc.close(try open(path, limit))
    }

    private static func open(_ path: String, _ limit: Int) throws(StateFileError) -> Int32 {
        var file: Int32
        // Without waiting for the writer of a pipe; a device is not even asked for more.
        repeat {
            file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        } while file < 0 && errno == EINTR
        // What a socket or a device without a driver is answered with.
        if file < 0, errno == ENXIO || errno == ENODEV, let kind = kind(of: path), kind != .file {
            throw .unexpected(path: path, kind, wanted: .file)
        }
        guard file >= 0 else { throw .last(path) }
        var information = stat()
        var problem: StateFileError?
        if unsafe fstat(file, &information) != 0 {
            problem = .last(path)
        } else if information.st_mode & S_IFMT != S_IFREG {
            problem = .unexpected(path: path, .init(information.st_mode), wanted: .file)
        } else if information.st_size > limit {
            problem = .tooLong(path: path)
        }
        guard let problem else { return file }
        Glibc.close(file)
        throw problem
    }

    private static func kind(of path: String) -> StateFileError.Kind? {
        var information = stat()
        return unsafe stat(path, &information) == 0 ? .init(information.st_mode) : nil
    }
}
