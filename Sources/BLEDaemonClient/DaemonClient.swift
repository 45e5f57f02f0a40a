@_spi(HostRunner) import BLE
import BLETransport
import Foundation

/// Lets adapters share the controller of a daemon.
///
///     var configuration = AdapterConfiguration()
///     DaemonClient.join(&configuration)
///     let adapter = try await Adapter.open("bled", configuration: configuration)
public enum DaemonClient {
    /// From now on `bled` and `bled:PATH` can be opened with this configuration.
    public static func join(_ configuration: inout AdapterConfiguration) {
        configuration.makeDaemonRunner = { DaemonRunner($0, pairing: $1.security.pairing, loop: $2) }
    }

    /// Where daemons listen: `$JELLING_SOCKET`, else `/run/jelling/bled.sock` for root, else
    /// `$XDG_RUNTIME_DIR/jelling/bled.sock`.
    public static var defaultSocketPath: String {
        if let path = namedSocketPath { return path }
        let environment = ProcessInfo.processInfo.environment
        guard geteuid() != 0, let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else { return systemPath }
        return folder + "/jelling/bled.sock"
    }

    /// The daemon for a program that names no controller: the one that `$JELLING_SOCKET` names, else the one that listens
    /// where this user's or the system's does. `nil` where there is none, or `$JELLING_SOCKET` is `none`.
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

    /// The socket that an address names; the default one where it names none.
    public static func socketPath(of address: TransportAddress) -> String {
        guard case .daemon(let path?) = address else { return defaultSocketPath }
        return path
    }
}
