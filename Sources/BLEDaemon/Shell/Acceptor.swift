import BLETransport
import Glibc

/// Accepts programs that connect to the daemon's socket.
final class Acceptor {
    /// The pause before the daemon accepts programs again after descriptors ran out, in microseconds.
    private static let pauseMicroseconds: UInt64 = 1_000_000

    private let listener: UnixListener
    private let loop: EventLoop
    private let configuration: Daemon.Configuration
    private var registration: EventLoop.Registration?
    private var deadline: EventLoop.Deadline?

    init(_ configuration: Daemon.Configuration, on loop: EventLoop) throws {
        self.configuration = configuration
        self.loop = loop
        listener = try configuration.listeningSocket.map { UnixListener(descriptor: $0) } ?? Self.listen(configuration)
    }

    private static func listen(_ configuration: Daemon.Configuration) throws -> UnixListener {
        do throws(TransportError) {
            return try UnixListener(path: configuration.socketPath, mode: configuration.socketMode)
        } catch {
            let remedy =
                switch error {
                case .system(_, ENOENT): "make its folder, or name another path with ‘--socket’"
                case .system(_, EADDRINUSE):
                    "another program listens there; end it, or name another path with ‘--socket’"
                default: "name another path with ‘--socket’"
                }
            throw SettingsFile.Problem(
                description: "cannot listen at ‘\(configuration.socketPath)’: \(error): \(remedy)")
        }
    }

    /// - Parameter begin: gets each program that connects.
    func start(_ begin: @escaping (ByteStream, PeerCredentials) -> Void) throws(TransportError) {
        registration = try loop.register(listener.descriptor, for: .readable) { [unowned self] _ in accept(begin) }
        deadline = loop.makeDeadline { [unowned self] in registration?.setInterest(.readable) }
    }

    private func accept(_ begin: (ByteStream, PeerCredentials) -> Void) {
        let began = loop.nowMicroseconds
        do throws(TransportError) {
            // Many programs that connect at once, or again and again, must not delay other work.
            for _ in 0..<4 {
                guard let (descriptor, peer) = try listener.accept() else { break }
                begin(ByteStream(descriptor: descriptor), peer)
            }
            let now = loop.nowMicroseconds
            acceptNext(at: now + TurnLine.pause(after: now - began))
        } catch {
            // The socket stays readable, so trying again at once would be a busy loop.
            configuration.warn("no more clients for now: \(error)")
            acceptNext(at: loop.nowMicroseconds + Self.pauseMicroseconds)
        }
    }

    private func acceptNext(at time: UInt64) {
        registration?.setInterest([])
        deadline?.set(atMicroseconds: time)
    }

    /// Lets other users open the socket.
    func openToOthers() {
        guard configuration.listeningSocket == nil, !listener.setMode(0o666) else { return }
        configuration.warn(
            "‘\(configuration.socketPath)’ is not the socket of this daemon any more, so other users cannot connect; "
                + "check who may write in its folder, and restart bled")
    }

    func stop() {
        registration?.cancel()
        listener.close()
    }

    func cancel() { deadline?.cancel() }
}

extension Daemon {
    /// Makes the folder of a socket if only that is missing, so that every user can reach what is in it.
    public static func makeFolder(ofSocket path: String) {
        guard !path.hasPrefix("@"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard unsafe mkdir(folder, 0o755) == 0 else { return }
        // The mask of the process does not count; nor does what somebody has put in place of the folder since.
        let made = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { return }
        defer { Glibc.close(made) }
        var information = stat()
        if unsafe fstat(made, &information) == 0, information.st_uid == geteuid() { _ = fchmod(made, 0o755) }
    }
}
