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
        return sharedSocketPath(of: defaultSocketPath, systemPath)
    }

    /// One of two sockets: the first one, unless no process listens there.
    static func sharedSocketPath(of own: String, _ system: String) -> String? {
        let paths = [own, system].filter(isSocket)
        // A daemon that was killed leaves its socket. It may start again, unless there is another one.
        guard let own = paths.first, let other = paths.last, own != other else { return paths.first }
        return (try? UnixListener.isAbandoned(own)) == true ? other : own
    }

    /// The sockets of all adapters of a daemon: the second one listens at `PATH.2`, and so on.
    /// - Parameter path: the socket of its first adapter.
    /// - Returns: `path`, and the others in their order.
    public static func adapterSocketPaths(of path: String) -> [String] {
        let folder = path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
        // In a folder such as /tmp anybody can make a socket with this name.
        let trusted = [0, owner(of: path), owner(of: folder)]
        return [path]
            + (2...greatestAdapterCount).map { "\(path).\($0)" }.filter { next in
                // An earlier daemon with more adapters may have been killed.
                guard let owner = ownerOfSocket(next), trusted.contains(owner) else { return false }
                return (try? UnixListener.isAbandoned(next)) != true
            }
    }

    private static let greatestAdapterCount = 16

    private static func owner(of path: String) -> UInt32? {
        var information = stat()
        return unsafe stat(path, &information) == 0 ? information.st_uid : nil
    }

    /// `nil` for what is no socket, also for a link to one: everybody can link to the sockets of others.
    private static func ownerOfSocket(_ path: String) -> UInt32? {
        var information = stat()
        guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return information.st_uid
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
