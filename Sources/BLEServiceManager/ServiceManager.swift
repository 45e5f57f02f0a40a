import Glibc

/// The protocol between a service and systemd or a compatible service manager: sockets that the manager has opened
/// (sd_listen_fds(3)), the state of the service (sd_notify(3)), and the watchdog (sd_watchdog_enabled(3)). Without a
/// manager this does nothing.
package struct ServiceManager: Sendable {
    private let notifySocket: String?
    /// The watchdog timeout, in microseconds; `nil`: there is no watchdog.
    package let watchdogMicroseconds: UInt64?
    /// The listening socket for programs if the manager has opened it.
    package let listener: Int32?

    /// Reads the environment. The manager's variables are only for this process, so they are removed from it.
    package init() {
        let variables = Self.variables
        let isForThis = { (name: String) in variables[name].flatMap(Int32.init) == getpid() }
        notifySocket = variables["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isWatched = variables["WATCHDOG_PID"] == nil || isForThis("WATCHDOG_PID")
        watchdogMicroseconds =
            isWatched ? variables["WATCHDOG_USEC"].flatMap(UInt64.init).flatMap { $0 > 0 ? $0 : nil } : nil
        let count = isForThis("LISTEN_PID") ? variables["LISTEN_FDS"].flatMap(Int32.init) ?? 0 : 0
        listener = count > 0 ? Self.firstDescriptor : nil
        if count > 0 { _ = fcntl(Self.firstDescriptor, F_SETFD, FD_CLOEXEC) }
        for name in Self.names { unsafe unsetenv(name) }
    }

    private static let names = [
        "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    ]

    private static var variables: [String: String] {
        var variables: [String: String] = [:]
        for name in names { variables[name] = unsafe getenv(name).map { unsafe String(cString: $0) } }
        return variables
    }

    /// SD_LISTEN_FDS_START
    private static let firstDescriptor: Int32 = 3

    /// Sends a state to the manager: `READY=1`, `WATCHDOG=1`, `STOPPING=1`, `STATUS=…`.
    package func notify(_ state: String) {
        guard let notifySocket else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(notifySocket.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let octets = Array(state.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, octets, octets.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, length)
            }
        }
    }
}
