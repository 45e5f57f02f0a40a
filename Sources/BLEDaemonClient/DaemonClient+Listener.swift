import BLETransport
import FoundationEssentials
import Glibc

extension DaemonClient {
    /// Connects to a daemon and makes sure whose it is, before anything is said.
    ///
    /// A process that can make a socket where programs search for one could answer in place of `bled`: learn what they send, and
    /// show them devices of his choice. So the kernel is asked who listens. Accepted are root (also a service manager that
    /// listens for `bled`), this user, the user of `$JELLING_SOCKET_OWNER`, and the owner of the socket's folder if only
    /// root can have put that folder there, as `/run/jelling`.
    /// - Throws: `TransportError`: `noDaemon` if no process listens, `untrustedDaemon` if one of another user does.
    public static func connect(to path: String) throws(TransportError) -> ByteStream {
        let stream: ByteStream
        do throws(TransportError) { stream = try ByteStream.connect(unixPath: path) } catch {
            switch error {
            case .connectionRefused, .pathNotFound: throw .noDaemon(path: path)
            default: throw error
            }
        }
        let listener = stream.peer?.user ?? .max
        let named = ProcessInfo.processInfo.environment["JELLING_SOCKET_OWNER"].flatMap { UInt32($0) }
        guard isTrusted(listener, at: path, named: named) else {
            stream.close()
            throw .untrustedDaemon(path: path, user: listener)
        }
        return stream
    }

    /// Whether this user may be the one who listens.
    /// - Parameter named: the user whom the environment names.
    static func isTrusted(_ listener: UInt32, at path: String, named: UInt32?) -> Bool {
        if listener == 0 || listener == geteuid() || listener == named { return true }
        // Every process can use an abstract name.
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
        return ownerSetByRoot(of: String(path[..<slash])) == listener
    }

    /// The owner of a folder; `nil` if anybody but root could have put it there.
    private static func ownerSetByRoot(of folder: String) -> UInt32? {
        var information = stat()
        var place = ""
        var parts = folder.split(separator: "/")
        guard let last = parts.popLast() else { return nil }
        for part in ["" as Substring] + parts {
            place += part.isEmpty ? "" : "/" + part
            guard unsafe lstat(place.isEmpty ? "/" : place, &information) == 0, information.st_uid == 0,
                information.st_mode & S_IFMT == S_IFDIR, information.st_mode & 0o022 == 0
            else { return nil }
        }
        guard unsafe lstat(place + "/" + last, &information) == 0, information.st_mode & S_IFMT == S_IFDIR,
            information.st_mode & 0o002 == 0
        else { return nil }
        return information.st_uid
    }
}
