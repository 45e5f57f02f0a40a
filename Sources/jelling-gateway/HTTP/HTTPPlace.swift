import BLEGateway

/// Where the HTTP server serves, and by which settings: what the settings want, as soon as it can be. Until then
/// everything stays as it was, so that nothing is served at an old address by rules that are meant for a new one.
struct HTTPPlace {
    /// What a change asks of the connections.
    enum Change {
        case none
        /// Those that are there go on.
        case certificate
        /// All end: they were made by other rules.
        case everything
    }

    private final class Listener {
        let socket: ListeningSocket
        init(_ settings: HTTPSettings) throws(SocketProblem) {
            socket = try ListeningSocket(address: settings.host, port: settings.port)
        }
    }

    /// The settings in force; `nil`: nothing is served.
    private(set) var settings: HTTPSettings?
    /// `nil`: clients connect without Transport Layer Security.
    private(set) var security: TLSContext?
    private var listener: Listener?
    /// The files of Transport Layer Security, which are replaced before a certificate expires.
    private var files: [FileWatch] = []
    private var isStale = false

    var isOpen: Bool { listener != nil }

    /// Waits for clients; `isOpen`.
    func wait(_ sockets: inout HTTPSockets, _ wakeUp: WakeUp, atMost longest: Duration?) {
        guard let listener else { return wakeUp.wait(-1) }
        sockets.wait(listener.socket, wakeUp, atMost: longest)
    }

    /// Does what the settings want, also if only the content of files has changed.
    /// - Parameter wanted: `nil`: nothing is to be served.
    mutating func follow(_ wanted: HTTPSettings?) throws(SocketProblem) -> Change {
        guard let wanted else {
            guard settings != nil else { return .none }
            self = HTTPPlace()
            return .everything
        }
        if wanted == settings {
            // Each is asked.
            if files.map({ $0.hasChanged() }).contains(true) { isStale = true }
            guard isStale else { return .none }
        }
        let isSame = wanted == settings
        // Before they are read: a change meanwhile is noticed.
        let files = wanted.security?.files.map { FileWatch($0) } ?? []
        let security = try wanted.security.map { security throws(SocketProblem) in try security.context() }
        if isSame {
            (self.security, self.files, isStale) = (security, files, false)
            return .certificate
        }
        if listener == nil || settings?.host != wanted.host || settings?.port != wanted.port { try listen(wanted) }
        (settings, self.security, self.files, isStale) = (wanted, security, files, false)
        return .everything
    }

    private mutating func listen(_ wanted: HTTPSettings) throws(SocketProblem) {
        guard let old = settings, old.port == wanted.port else {
            listener = try Listener(wanted)
            return
        }
        // One of the addresses may include the other.
        listener = nil
        do throws(SocketProblem) { listener = try Listener(wanted) } catch {
            listener = try? Listener(old)
            if listener == nil { settings = nil }
            throw error
        }
    }
}
