import BLEGateway
import BLEStateFiles
import Dispatch
import Logging
import ServiceLifecycle
import Synchronization

/// Serves health and metrics over HTTP, on its own thread: whatever clients do, the radio, the queue, the watchdog and
/// signals go on.
final class StatusServer: Service {
    private let settings: HTTPSettings
    private let hosts: HTTPHosts
    private let report: StatusReport
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeUp: WakeUp

    private struct State {
        var isStopped = false
        var isRefreshing = false
        var tokenProblem: String?
    }

    /// How long `/metrics` waits for the threads of the engines; then it has the counters that were read last.
    private static let refreshTime = ContinuousClock.Duration.seconds(1)
    /// How long the server waits after an address could not be used, in milliseconds.
    private static let retryPause: Int32 = 5000
    private static let tokenLimit = 4096

    init(settings: HTTPSettings, report: StatusReport, logger: Logger) {
        self.settings = settings
        hosts = HTTPHosts(names: settings.hosts)
        self.report = report
        self.logger = logger
        wakeUp = WakeUp()
    }

    func run() async throws {
        let thread = DispatchQueue(label: "http")
        thread.async { self.serve() }
        try? await gracefulShutdown()
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    // MARK: On the thread

    private func serve() {
        var lastProblem: String?
        // The address may be in use or not exist yet: the rest of the gateway must not stop for that.
        while !isStopped {
            do throws(SocketProblem) {
                let listener = try ListeningSocket(address: settings.host, port: settings.port)
                lastProblem = nil
                serve(listener)
            } catch {
                if error.text != lastProblem {
                    logger.error("cannot serve HTTP on \(settings.host):\(settings.port): \(error.text); trying again")
                }
                lastProblem = error.text
                wakeUp.wait(Self.retryPause)
            }
        }
    }

    private func serve(_ listener: borrowing ListeningSocket) {
        var server = HTTPSockets()
        var waiting: [(id: HTTPConnections.ID, since: ContinuousClock.Instant)] = []
        while !isStopped {
            server.wait(listener, wakeUp, atMost: waiting.isEmpty ? nil : Self.refreshTime)
            for (id, request) in server.drainRequests() {
                switch StatusRoute(request, hosts: hosts, token: token()) {
                case .refused(let status): server.answer(HTTPAnswer(status), to: id)
                case .health:
                    let (isHealthy, body) = report.health()
                    server.answer(
                        HTTPAnswer(
                            isHealthy ? .ok : .serviceUnavailable, contentType: "application/json", body: body),
                        to: id)
                case .metrics:
                    waiting.append((id, .now))
                    refresh()
                }
            }
            // Counters that the threads of the engines have given, or do not give in time.
            let isRefreshing = state.withLock { $0.isRefreshing }
            let isLate = waiting.first.map { ContinuousClock.now - $0.since >= Self.refreshTime } ?? false
            guard !waiting.isEmpty, !isRefreshing || isLate else { continue }
            let answer = HTTPAnswer(
                .ok, contentType: "text/plain; version=0.0.4; charset=utf-8", body: report.metrics())
            for (id, _) in waiting { server.answer(answer, to: id) }
            waiting = []
        }
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
    private func token() -> StatusRoute.Token {
        guard let path = settings.tokenFile else { return .notNeeded }
        let problem: String
        do throws(StateFileError) {
            let octets = try InputPlace.read(path, limit: Self.tokenLimit)
            let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
            let token = Array(octets.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
            if !token.isEmpty {
                state.withLock { $0.tokenProblem = nil }
                return .octets(token)
            }
            problem = "‘\(path)’ is empty; write a token into it"
        } catch {
            problem = "\(path) \(error.inputCause)"
        }
        let isNews = state.withLock { state in
            defer { state.tokenProblem = problem }
            return state.tokenProblem != problem
        }
        if isNews { logger.error("no request over HTTP is answered: \(problem)") }
        return .unknown
    }
}
