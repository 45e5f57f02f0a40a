import Glibc

/// What one process says of itself.
enum Process {
    /// Hands a line to the reader at once.
    static func say(_ line: String) {
        let octets = Array((line + "\n").utf8)
        _ = octets.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    /// The resident memory in KiB; 0 where the system does not say.
    static var residentMemory: Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var octets = [UInt8](repeating: 0, count: 128)
        let count = octets.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        let fields = String(decoding: octets.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1024 : 0
    }
}
