import BLE
import BLEESPHome
import BLEGateway
import BLEStateFiles
import Dispatch
import Logging
import ServiceLifecycle
import Synchronization

/// Serves the Bluetooth proxy in ESPHome's native API, on its own thread: whatever clients do, the radio, the queue,
/// the watchdog and signals go on.
final class ProxyService: ServiceLifecycle.Service {
    private let settings: ESPHomeSettings
    private let name: String
    private let isConfiguredActive: Bool
    private let links: GatewayLinks
    private let pool: Mutex<AdapterPool?> = Mutex(nil)
    private let logger: Logger
    private let mail = ProxyMail<ProxyServer.ID>()
    private let last = Mutex((counters: ProxyCounters(), clients: 0))

    /// How long the service waits after an address could not be used.
    private static let retryPause = Microseconds.seconds(5)
    private static let longestWait = Microseconds.seconds(1)
    private static let keyLimit = 4096

    /// - Returns: `nil` if the settings want none.
    @inline(never)
    init?(_ settings: GatewaySettings, links: GatewayLinks, logger: Logger) {
        guard let own = settings.esphome else { return nil }
        self.settings = own
        name = own.name ?? settings.gateway.name
        isConfiguredActive = settings.adapters.contains { !$0.isPassive }
        self.links = links
        self.logger = logger
    }

    var allowsPairing: Bool { settings.allowsPairing }
    var counters: ProxyCounters { last.withLock { $0.counters } }
    var clientCount: Int { last.withLock { $0.clients } }
    var slots: LinkSlots { links.slots }

    /// Whose scanners clients may make active or passive.
    func use(_ pool: AdapterPool) { self.pool.withLock { $0 = pool } }

    /// A packet was received.
    func heard(_ discovery: Discovery) { mail.heard(discovery) }

    /// An adapter was opened. Clients know the proxy by the address of the first one.
    func opened(_ adapter: Adapter) async {
        let information = await adapter.information
        let address = information.publicAddress ?? information.identityAddress ?? information.ownAddress
        mail.found(address?.value ?? 0)
    }

    func run() async throws {
        let thread = DispatchQueue(label: "proxy")
        async let end: Void = withCheckedContinuation { continuation in
            thread.async {
                self.serve()
                continuation.resume()
            }
        }
        try? await gracefulShutdown()
        mail.stop()
        // What announces the proxy is taken back before the program ends.
        await end
    }

    // MARK: On the thread

    private func serve() {
        guard let address = mail.waitForAddress() else { return }
        var lastProblem: String?
        while !mail.isStopped {
            switch key() {
            case .success(let key):
                let description = ProxyDescription(
                    name: hostName, address: address, version: gatewayVersion, key: key,
                    allowsPairing: settings.allowsPairing)
                let presence = ProxyPresence(settings, description, logger: logger)
                defer { presence.end() }
                return serve(description)
            case .failure(let problem):
                if problem.text != lastProblem {
                    logger.error("the Bluetooth proxy has no key: \(problem.text); trying again")
                }
                lastProblem = problem.text
                mail.wakeUp.wait(Int32(Self.retryPause.rawValue / 1000))
            }
        }
    }

    /// A name of the gateway has characters that host names do not have.
    private var hostName: String {
        String(name.prefix(63).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    private func key() -> Result<NoiseKey?, SocketProblem> {
        guard let path = settings.keyFile else { return .success(nil) }
        do throws(StateFileError) {
            guard let key = NoiseKey(base64: try InputPlace.read(path, limit: Self.keyLimit)) else {
                return .failure(SocketProblem(text: "‘\(path)’ has no key"))
            }
            return .success(key)
        } catch {
            return .failure(SocketProblem(text: "\(path) \(error.inputCause)"))
        }
    }

    private func serve(_ description: ProxyDescription) {
        let scanner = ScannerState(
            activity: .starting, isActive: isConfiguredActive, isConfiguredActive: isConfiguredActive)
        var sockets = ProxySockets(ProxyServer(description, scanner: scanner))
        var listeners = ProxyListeners(settings.places, logger: logger)
        var requesters: [ProxyServer.ID: LinkRequester] = [:]
        while !mail.isStopped {
            let next = listeners.open(at: GatewayCore.now)
            let post = mail.collect()
            sockets.server.setScanner(activity, at: GatewayCore.now)
            for packet in post.packets {
                sockets.server.heard(packet.address, rssi: packet.rssi, data: packet.data, at: packet.time)
            }
            for (id, event) in post.events { sockets.server.received(event, for: id, at: GatewayCore.now) }
            sockets.wait(listeners, mail.wakeUp, until: next, atMost: Self.longestWait)
            for action in sockets.drainActions() { perform(action, &requesters) }
            mail.hasSubscribers = sockets.server.subscriberCount > 0
            last.withLock { $0 = (sockets.server.counters, sockets.server.open.count) }
        }
        for requester in requesters.values { links.removeRequester(requester) }
        pool.withLock { $0 }?.scan(isActive: nil)
    }

    private func perform(_ action: ProxyServer.Action, _ requesters: inout [ProxyServer.ID: LinkRequester]) {
        switch action {
        case .opened(let id, let peer):
            requesters[id] = links.addRequester(of: .proxy(peer)) { [mail] event in mail.received(event, for: id) }
        case .link(let request, let id):
            if let requester = requesters[id] { links.submit(request, from: requester) }
        case .scan(let isActive): pool.withLock { $0 }?.scan(isActive: isActive)
        case .close(let id, _):
            if let requester = requesters.removeValue(forKey: id) { links.removeRequester(requester) }
        }
    }

    private var activity: ScannerState.Activity {
        let phases = pool.withLock { $0 }?.runners.map(\.status.phase) ?? []
        return phases.contains(.scanning) ? .running : phases.contains(.opening) ? .starting : .failed
    }
}
