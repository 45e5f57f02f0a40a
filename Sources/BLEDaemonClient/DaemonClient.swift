@_spi(HostRunner) import BLE
import BLETransport
import FoundationEssentials
import Glibc

/// Lets adapters share the controller of a daemon.
///
///     var configuration = AdapterConfiguration()
///     DaemonClient.join(&configuration)
///     let adapter = try await Adapter.open("bled", configuration: configuration)
public enum DaemonClient {
    /// Makes `bled` and `bled:PATH` available as transports in this configuration.
    public static func join(_ configuration: inout AdapterConfiguration) {
        configuration.makeDaemonRunner = { DaemonRunner($0, $1, loop: $2) }
    }

    /// Where daemons listen: `$JELLING_SOCKET`, else `/run/jelling/bled.sock` for root, else
    /// `$XDG_RUNTIME_DIR/jelling/bled.sock`.
    public static var defaultSocketPath: String {
        if let path = namedSocketPath { return path }
        let environment = ProcessInfo.processInfo.environment
        guard geteuid() != 0, let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else { return systemPath }
        return folder + "/jelling/bled.sock"
    }

    /// The socket path of the daemon for a program that names no controller: `$JELLING_SOCKET`, else that of this
    /// user's or the system's daemon if it listens. `nil` if there is none, or if `$JELLING_SOCKET` is `none`.
    public static var sharedSocketPath: String? {
        if let path = ProcessInfo.processInfo.environment["JELLING_SOCKET"], !path.isEmpty {
            return path == "none" ? nil : path
        }
        return [defaultSocketPath, systemPath].first { isSocket($0) }
    }

    private static let systemPath = "/run/jelling/bled.sock"

    private static var namedSocketPath: String? {
        ProcessInfo.processInfo.environment["JELLING_SOCKET"].flatMap { $0.isEmpty || $0 == "none" ? nil : $0 }
    }

    private static func isSocket(_ path: String) -> Bool {
        var information = stat()
        return unsafe stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    /// The socket path in an address; the default one if it has none.
    public static func socketPath(of address: TransportAddress) -> String {
        guard case .daemon(let path?) = address else { return defaultSocketPath }
        return path
    }
}
