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
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["JELLING_SOCKET"], !path.isEmpty { return path }
        guard geteuid() != 0, let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else {
            return "/run/jelling/bled.sock"
        }
        return folder + "/jelling/bled.sock"
    }

    static func socketPath(of address: TransportAddress) -> String {
        guard case .daemon(let path?) = address else { return defaultSocketPath }
        return path
    }
}
