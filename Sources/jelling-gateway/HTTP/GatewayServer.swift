import BLEGateway
import BLEStateFiles
import Dispatch
import Logging
import ServiceLifecycle
import Synchronization

/// Serves health, metrics, the devices, events and the live page over HTTP, on its own thread: whatever clients do, the
/// radio, the queue, the watchdog and signals go on.
final class GatewayServer: Service {
    private let report: StatusReport
    private let hub: EventHub
    /// `nil`: no requests for GATT are taken over HTTP.
    private let gatt: GATTService?
    private let gattTokenFile: String?
    /// Answers to requests for GATT.
    private let outbox = Mutex<[Answer]>([])
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeUp: WakeUp

    private struct State {
        var isStopped = false
        var isRefreshing = false
        /// What the settings want; `nil`: nothing is served.
        var wanted: HTTPSettings?
        /// Whether it may have changed, or files that it names.
        var isNew = true
        var problem: String?
        var tokenProblems: [String: String] = [:]
    }

    /// A part of the answer to a request for GATT.
    private struct Answer {
        var id: HTTPConnections.ID
        var octets: [UInt8]
        var isLast: Bool
    }

    /// What only the thread uses.
    private struct Clients {
        /// Those who wait for the counters of the engines.
        var waiting: [(id: HTTPConnections.ID, since: ContinuousClock.Instant)] = []
        var readers: [HTTPConnections.ID: EventReader] = [:]
        /// Those who wait for the answers to a request for GATT.
        var requesters: Set<HTTPConnections.ID> = []
        var watch = StatusWatch()
        /// By which settings they are served.
        var place = HTTPPlace()
        var hosts = HTTPHosts(names: [])
        /// When what could not be served is tried again.
        var retry: ContinuousClock.Instant?
    }

    /// How long `/metrics` waits for the threads of the engines; then it has the counters that were read last.
    private static let refreshTime = ContinuousClock.Duration.seconds(1)
    /// How long the server waits after an address could not be used.
    private static let retryPause = ContinuousClock.Duration.seconds(5)
    private static let tokenLimit = 4096
    /// What waits on a stream before more is added, in octets.
    private static let portion = 65_536
    /// What waits of answers to a request for GATT, in octets.
    private static let answerLimit = 1 << 20

    /// - Parameters:
    ///   - settings: `nil`: nothing is served until `use` is called with some.
    ///   - gattTokenFile: the file with the token of requests for GATT; `nil`: that of the settings.
    init(
        settings: HTTPSettings?, report: StatusReport, hub: EventHub, gatt: GATTService?, gattTokenFile: String?,
        logger: Logger
    ) {
        self.gatt = gatt
        self.gattTokenFile = gattTokenFile
        self.report = report
        self.hub = hub
        self.logger = logger
        wakeUp = WakeUp()
        state.withLock { $0.wanted = settings }
    }

    /// Serves by these settings, as soon as it can; also reads the files of certificates again if they have changed.
    /// - Parameter settings: `nil`: nothing is served any more.
    func use(_ settings: HTTPSettings?) {
        state.withLock { state in
            state.wanted = settings
            state.isNew = true
        }
        wakeUp.signal()
    }

    func run() async throws {
        let thread = DispatchQueue(label: "http")
        hub.onEvents { [wakeUp] in wakeUp.signal() }
        gatt?.onReply { [weak self] id, octets, isLast in
            guard let self else { return }
            outbox.withLock { $0.append(Answer(id: id, octets: octets, isLast: isLast)) }
            wakeUp.signal()
        }
        thread.async { self.serve() }
        try? await gracefulShutdown()
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    // MARK: On the thread

    private func serve() {
        var server = HTTPSockets()
        var clients = Clients()
        while !isStopped {
            follow(&server, &clients)
            wait(&server, clients)
            for (id, request) in server.drainRequests() { handle(request, id, &server, &clients) }
            for (id, message) in server.drainMessages() { handle(message, id, &server, &clients) }
            sendAnswers(&server, &clients)
            answerWaiting(&server, &clients)
            clients.readers = clients.readers.filter { server.isStreaming($0.key) }
            if !clients.readers.isEmpty { clients.watch.someoneWatches() }
            hub.post(clients.watch.events(report))
            for id in clients.readers.keys.sorted() { pump(id, &server, &clients) }
        }
    }

    private func wait(_ server: inout HTTPSockets, _ clients: Clients) {
        let retry = clients.retry.map { max(.zero, $0 - .now) }
        guard clients.place.isOpen else {
            let time = retry.map { Int32(clamping: $0.components.seconds + 1) * 1000 }
            return wakeUp.wait(time ?? -1)
        }
        let waits = !clients.waiting.isEmpty || clients.watch.isNeeded
        let longest = waits ? Self.refreshTime : retry.map { $0 + .seconds(1) }
        clients.place.wait(&server, wakeUp, atMost: longest)
    }

    /// Serves by what the settings want. The address may be in use or not exist yet: the rest of the gateway, and what is
    /// served already, must not stop for that.
    private func follow(_ server: inout HTTPSockets, _ clients: inout Clients) {
        let (wanted, isNew) = state.withLock { state in
            defer { state.isNew = false }
            return (state.wanted, state.isNew)
        }
        guard isNew || clients.retry.map({ $0 <= .now }) ?? false else { return }
        clients.retry = nil
        do throws(SocketProblem) {
            switch try clients.place.follow(wanted) {
            case .none: break
            case .certificate:
                server.security = clients.place.security
                logger.info("the certificate for HTTP was read again")
            case .everything:
                server.dropAll()
                // It misses those who wait for answers.
                sendAnswers(&server, &clients)
                server.security = clients.place.security
                clients.hosts = HTTPHosts(names: clients.place.settings?.hosts ?? [])
                clients.waiting = []
            }
            state.withLock { $0.problem = nil }
        } catch {
            clients.retry = .now + Self.retryPause
            failed(error, wanted, clients.place)
        }
    }

    private func failed(_ problem: SocketProblem, _ wanted: HTTPSettings?, _ place: HTTPPlace) {
        let place = place.settings.map { "; until then it stays as it was, on \($0.place)" } ?? ""
        let text = "cannot serve HTTP on \(wanted?.place ?? ""): \(problem.text)\(place)"
        let isNews = state.withLock { state in
            defer { state.problem = text }
            return state.problem != text
        }
        if isNews { logger.error("\(text); trying again") }
    }

    private func handle(
        _ request: HTTPRequest, _ id: HTTPConnections.ID, _ server: inout HTTPSockets, _ clients: inout Clients
    ) {
        let tokenFile = clients.place.settings?.tokenFile
        // Requests for GATT are never taken without a token.
        let gattToken = gatt == nil ? nil : (gattTokenFile ?? tokenFile).map { token($0) }
        let tokens = GatewayRoute.Tokens(reading: token(tokenFile), gatt: gattToken)
        switch GatewayRoute(request, hosts: clients.hosts, tokens: tokens) {
        case .refused(let status, let fields):
            var answer = HTTPAnswer(status)
            answer.fields = fields
            server.answer(answer, to: id)
        case .health:
            let (isHealthy, body) = report.health(http: state.withLock { $0.problem })
            server.answer(
                HTTPAnswer(isHealthy ? .ok : .serviceUnavailable, contentType: "application/json", body: body), to: id)
        case .metrics:
            clients.waiting.append((id, .now))
            refresh()
        case .description: server.answer(json(OpenAPIDocument.text), to: id)
        case .devices(let after, let limit): server.answer(json(report.devices(after: after, limit: limit)), to: id)
        case .device(let address):
            server.answer(report.device(address).map(json) ?? HTTPAnswer(.notFound), to: id)
        case .adapters: server.answer(json(report.adapters()), to: id)
        case .queue: server.answer(json(report.queue()), to: id)
        case .sessions: server.answer(json(report.sessions()), to: id)
        case .settings: server.answer(json(report.settings()), to: id)
        case .live: server.answer(livePage(), to: id)
        case .gatt(let body): handle(gatt: body, id, &server, &clients)
        case .events(let filter, let last):
            guard server.takeStreamPlace(id, isAuthorised: tokenFile != nil || filter.permitted.contains(.gatt)) else {
                return server.answer(HTTPAnswer(.tooManyRequests), to: id)
            }
            let head = HTTPAnswer(
                .ok, contentType: "text/event-stream", body: "retry: 2000\n\n", fields: ["X-Accel-Buffering: no"])
            server.beginStream(head, pulse: Array(":\n\n".utf8), on: id)
            clients.readers[id] = hub.reader(filter, usesWebSocket: false, lastEventID: last)
        case .webSocket(let filter, let last, let key):
            guard server.takeStreamPlace(id, isAuthorised: tokenFile != nil || filter.permitted.contains(.gatt)) else {
                return server.answer(HTTPAnswer(.tooManyRequests), to: id)
            }
            server.beginWebSocket(accept: WebSocketUpgrade.proof(ofKey: key), on: id)
            clients.readers[id] = hub.reader(filter, usesWebSocket: true, lastEventID: last)
        }
    }

    // MARK: Requests for GATT

    private func handle(
        gatt body: [UInt8], _ id: HTTPConnections.ID, _ server: inout HTTPSockets, _ clients: inout Clients
    ) {
        guard let gatt, let client = server.client(of: id) else { return server.answer(HTTPAnswer(.notFound), to: id) }
        guard server.takeStreamPlace(id, isAuthorised: true) else {
            return server.answer(HTTPAnswer(.tooManyRequests), to: id)
        }
        switch gatt.received(body, from: id, of: client) {
        case .refused(let status, let value):
            server.answer(HTTPAnswer(status, contentType: "application/json", body: value.text + "\n"), to: id)
        case .accepted:
            // An empty line between others is nothing.
            server.beginStream(
                HTTPAnswer(.ok, contentType: "application/x-ndjson", octets: []), pulse: [0x0A], on: id)
            clients.requesters.insert(id)
        }
    }

    private func sendAnswers(_ server: inout HTTPSockets, _ clients: inout Clients) {
        let answers = outbox.withLock { outbox in
            defer { outbox = [] }
            return outbox
        }
        for answer in answers where clients.requesters.contains(answer.id) {
            // One who does not read keeps nothing here.
            guard let waiting = server.waiting(on: answer.id), waiting < Self.answerLimit else {
                server.drop(answer.id)
                continue
            }
            server.add(answer.octets, to: answer.id)
            if answer.isLast {
                clients.requesters.remove(answer.id)
                server.endStream(answer.id)
            }
        }
        for id in clients.requesters where !server.isStreaming(id) {
            clients.requesters.remove(id)
            gatt?.gone(id)
        }
    }

    /// A message by WebSocket replaces the filter.
    private func handle(
        _ message: [UInt8], _ id: HTTPConnections.ID, _ server: inout HTTPSockets, _ clients: inout Clients
    ) {
        guard var reader = clients.readers[id] else { return }
        guard var filter = EventFilter(message) else { return server.endStream(id) }
        filter.permitted = reader.filter.permitted
        guard filter.isPermitted else { return server.endStream(id) }
        reader.filter = filter
        clients.readers[id] = reader
    }

    // MARK: Answers

    private func json(_ body: String) -> HTTPAnswer { HTTPAnswer(.ok, contentType: "application/json", body: body) }
    private func json(_ octets: [UInt8]) -> HTTPAnswer {
        HTTPAnswer(.ok, contentType: "application/json", octets: octets)
    }

    private func livePage() -> HTTPAnswer {
        let nonce =
            String(UInt64.random(in: 0...UInt64.max), radix: 36) + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let policy =
            "default-src 'none'; connect-src 'self'; img-src data:; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTTPAnswer(
            .ok, contentType: "text/html; charset=utf-8", body: LivePage.text(nonce: nonce),
            fields: ["Content-Security-Policy: \(policy)"])
    }

    /// Writes as many events as a client has room for; one that reads too slowly is dropped.
    private func pump(_ id: HTTPConnections.ID, _ server: inout HTTPSockets, _ clients: inout Clients) {
        while let waiting = server.waiting(on: id), waiting < Self.portion, var reader = clients.readers[id] {
            guard let octets = hub.next(&reader) else {
                clients.readers[id] = nil
                return server.drop(id)
            }
            clients.readers[id] = reader
            if octets.isEmpty { return }
            server.add(octets, to: id)
        }
    }

    /// Answers with the counters that the threads of the engines have given, or do not give in time.
    private func answerWaiting(_ server: inout HTTPSockets, _ clients: inout Clients) {
        let isRefreshing = state.withLock { $0.isRefreshing }
        let isLate = clients.waiting.first.map { ContinuousClock.now - $0.since >= Self.refreshTime } ?? false
        guard !clients.waiting.isEmpty, !isRefreshing || isLate else { return }
        let answer = HTTPAnswer(.ok, contentType: "text/plain; version=0.0.4; charset=utf-8", body: report.metrics())
        for (id, _) in clients.waiting { server.answer(answer, to: id) }
        clients.waiting = []
    }

    /// Reads the counters of the engines. Of many requests at once, only one waits for their threads.
    private func refresh() {
        let isFirst = state.withLock { state in
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        guard isFirst else { return }
        Task {
            await report.refreshCounters()
            state.withLock { $0.isRefreshing = false }
            wakeUp.signal()
        }
    }

    /// The token that requests need. The file is read each time, so that the token can be changed.
    private func token(_ path: String?) -> GatewayRoute.Token {
        guard let path else { return .notNeeded }
        let problem: String
        do throws(StateFileError) {
            let octets = try InputPlace.read(path, limit: Self.tokenLimit)
            let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
            let token = Array(octets.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
            if !token.isEmpty {
                state.withLock { $0.tokenProblems[path] = nil }
                return .octets(token)
            }
            problem = "‘\(path)’ is empty; write a token into it"
        } catch {
            problem = "\(path) \(error.inputCause)"
        }
        let isNews = state.withLock { state in
            defer { state.tokenProblems[path] = problem }
            return state.tokenProblems[path] != problem
        }
        if isNews { logger.error("no request over HTTP is answered: \(problem)") }
        return .unknown
    }
}
