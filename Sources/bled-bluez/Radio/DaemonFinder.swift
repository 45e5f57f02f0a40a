import BLEDaemonClient
import BLETransport
import Glibc

/// Finds the sockets of `bled`, now and when it starts later. It belongs to the loop's thread.
final class DaemonFinder {
    private let path: String
    private let loop: EventLoop
    /// Tries the sockets that are there; returns whether the daemon is away, or its first adapter.
    private let attempt: ([String]) -> Bool
    private var watch: FolderWatch?
    private var retry: EventLoop.Deadline?
    /// How many attempts soon after one another are left: a socket appears before its daemon listens.
    private var hastyAttempts = 0

    private static let hastyPause: UInt64 = 200_000
    private static let patientPause: UInt64 = 4_000_000

    init(_ path: String, on loop: EventLoop, attempt: @escaping ([String]) -> Bool) {
        self.path = path
        self.loop = loop
        self.attempt = attempt
    }

    func start() {
        retry = loop.makeDeadline { [weak self] in self?.look() }
        startWatch()
        look()
    }

    /// Something may have changed: looks at once, and soon again.
    func lookSoon() {
        hastyAttempts = 10
        retry?.set(atMicroseconds: loop.nowMicroseconds + Self.hastyPause)
    }

    func stop() {
        watch?.close()
        watch = nil
        retry?.cancel()
        retry = nil
    }

    private func startWatch() {
        guard watch == nil, path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        watch = FolderWatch(folder, on: loop) { [weak self] in self?.lookSoon() }
    }

    private func look() {
        let isAway = attempt(DaemonClient.adapterSocketPaths(of: path))
        startWatch()
        if hastyAttempts > 0 {
            hastyAttempts -= 1
            retry?.set(atMicroseconds: loop.nowMicroseconds + Self.hastyPause)
        } else if isAway {
            // Without a folder to watch, or when the daemon itself waits for an adapter, nothing tells.
            retry?.set(atMicroseconds: loop.nowMicroseconds + Self.patientPause)
        }
    }
}
