import Glibc

/// Notifies systemd with the protocol of sd_notify(3): datagrams to the socket in `NOTIFY_SOCKET`.
struct Notifier: Sendable {
    private let path: String?
    /// How often systemd expects a notification; `nil`: never.
    let watchdogInterval: Duration?

    init() {
        path = Self.environment("NOTIFY_SOCKET")
        let isForUs = Self.environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        let span = isForUs ? Self.environment("WATCHDOG_USEC").flatMap(Int64.init) : nil
        watchdogInterval = path == nil ? nil : span.map { .microseconds($0) }
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// - Parameter message: such as `READY=1`.
    func notify(_ message: String) {
        guard let path else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard !name.isEmpty, name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // An abstract socket address.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let octets = Array(message.utf8)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = unsafe sendto(descriptor, octets, octets.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
