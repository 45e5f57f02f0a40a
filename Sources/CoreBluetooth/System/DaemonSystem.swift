@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEDaemonClient
import BLEMessages
import BLETransport

/// The system behind a daemon: requests of managers go to the daemon over a socket, and events come back.
///
///     away ──connected──▶ joined ──daemon gone──▶ away, managers become `resetting`
///
/// When the daemon returns, it receives the managers again. Managers receive their restored state only once. What
/// goes over the socket is in `DaemonSystem+Messages.swift`.
final class DaemonSystem: ServedSystem, @unchecked Sendable {
    // @unchecked Sendable is safe because `client` has a lock, and only the loop changes the rest.
    struct Configuration: Sendable {
        var environment: AppEnvironment
        var socketPath: String
        /// Asks the user during pairing.
        var pairingAgent: (any CBPairingAgent)?
        var pairing = PairingSettings()
        /// Receives lines about the app's use of the API; `nil` uses the handler of `CBApplication.onLog(_:)`.
        var log: (@Sendable (String) -> Void)?

        init(_ environment: AppEnvironment, socketPath: String) {
            self.environment = environment
            self.socketPath = socketPath
            if environment.asksAtTerminal, let terminal = TerminalAgent.ofProcess() {
                pairingAgent = terminal
                pairing.capability = .keyboardDisplay
            }
        }
    }

    /// Handled events are reported to the daemon in groups of this size; earlier if none is left to handle.
    private static let returnedAtOnce = 64
    /// How long to wait after a failure before connecting to the daemon again, in microseconds; longer each time.
    private static let shortestPause: UInt64 = 200_000
    private static let longestPause: UInt64 = 5_000_000

    let client: SystemClient
    let configuration: Configuration

    // Used only on the loop.
    private(set) var stream: ByteStream?
    var reader = MessageReader()
    private var retry: EventLoop.Deadline?
    private var pause = DaemonSystem.shortestPause
    /// The daemon's last message if it ended the connection.
    var refusal: String?
    private var hasBeenJoined = false
    /// Managers that have received, since the last connection, the state that the daemon is away.
    private var reportedAway: Set<ManagerID> = []
    /// The state that managers receive while no daemon is there.
    private var stateWhileAway = ManagerState.unsupported
    /// The managers that exist, in order, with their first requests.
    private var made: [(manager: ManagerID, request: ClientRequest)] = []
    /// Managers that an earlier connection has created.
    private var madeBefore: Set<ManagerID> = []
    /// What each central manager has of the daemon. Only for lookup, never iterated.
    private var books: [ManagerID: ConnectionBook] = [:]
    private var lastNumber: UInt64 = 0
    private var waiting: [UInt64: () -> Void] = [:]
    private(set) var isInBackground: Bool
    private(set) var pairingAgent: (any CBPairingAgent)?
    private(set) var pairing: PairingSettings
    private var pairingState = AdapterSecurity()

    init(_ configuration: Configuration) {
        self.configuration = configuration
        client = SystemClient(configuration.environment, group: Self.returnedAtOnce, log: configuration.log)
        isInBackground = !configuration.environment.startsInForeground
        pairingAgent = configuration.pairingAgent
        pairing = configuration.pairing
    }

    // MARK: Managers and the app

    func begin() {
        client.loop.run {
            self.retry = self.client.loop.makeDeadline { self.join() }
            self.join()
        }
    }

    func submit(_ request: ClientRequest, from manager: ManagerID, then done: (@Sendable () -> Void)?) {
        client.loop.run {
            if let done {
                self.lastNumber += 1
                self.waiting[self.lastNumber] = done
            }
            self.submit(request, from: manager, number: done == nil ? 0 : self.lastNumber)
        }
    }

    func giveBack(of manager: ManagerID) {
        client.loop.run {
            if let returned = self.client.drainHandled(of: manager) {
                self.send(returned: returned.events, by: manager)
            }
        }
    }

    func move(_ move: AppMove) {
        client.loop.run {
            self.isInBackground = move != .foreground
            self.send(move)
        }
    }

    func tasksChanged(to count: Int) { client.loop.run { self.send(tasks: count) } }

    func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings) {
        client.loop.run {
            self.pairingAgent = agent
            self.pairing = settings
            self.sendPairing()
        }
    }

    // MARK: To the daemon

    private func submit(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        switch request {
        case .createCentral, .createPeripheral:
            made.append((manager, request))
            if case .createCentral = request { books[manager] = ConnectionBook() }
            if stream == nil { reportAway(manager) }
        case .release:
            made.removeAll { $0.manager == manager }
            madeBefore.remove(manager)
            reportedAway.remove(manager)
            books[manager] = nil
        case .central(let request): books[manager]?.record(request, isAway: stream == nil)
        case .peripheral, .channel: break
        }
        guard stream != nil else {
            client.handOver()
            waiting.removeValue(forKey: number)?()
            return
        }
        send(request, from: manager, number: number)
    }

    // MARK: The connection

    private func join() {
        do throws(TransportError) {
            let stream = try DaemonClient.connect(to: configuration.socketPath)
            try stream.start(on: client.loop, receive: { self.receive($0) }, closed: { self.left($0) })
            self.stream = stream
        } catch {
            return isAway(error.description)
        }
        reader = MessageReader()
        refusal = nil
        client.forgetUnhandled()
        greet()
        sendPairing()
        let count = client.tasks.count
        if count > 0 { send(tasks: count) }
        for (manager, request) in made {
            if hasBeenJoined { madeBefore.insert(manager) }
            send(request.continuing(madeBefore.contains(manager)), from: manager)
        }
    }

    private func left(_ error: TransportError?) {
        stream = nil
        client.handOver()
        let waiting = waiting
        self.waiting = [:]
        for (_, body) in waiting { body() }
        isAway(refusal.map { "the daemon ended the connection: \($0)" } ?? error?.description ?? "the daemon is gone")
    }

    /// Reports that the daemon is away and keeps trying to connect.
    private func isAway(_ reason: String) {
        client.complain(of: reason) { "no Bluetooth: \($0)" }
        let state: ManagerState = hasBeenJoined ? .resetting : .unsupported
        if state != stateWhileAway { reportedAway = [] }
        stateWhileAway = state
        for (manager, _) in made { reportAway(manager) }
        retry?.set(atMicroseconds: client.loop.nowMicroseconds + pause)
        pause = min(2 * pause, Self.longestPause)
    }

    private func reportAway(_ manager: ManagerID) {
        guard reportedAway.insert(manager).inserted else { return }
        deliver(.stateChanged(stateWhileAway, authorization), to: manager)
        let ended = books[manager]?.lose(microseconds: Int64(client.loop.nowMicroseconds)) ?? []
        for event in ended { deliver(event, to: manager) }
    }

    /// Notes what a manager has of the daemon, and asks again for what it had of an earlier one.
    /// - Returns: whether the manager receives the event.
    private func track(_ event: ClientEvent, for manager: ManagerID) -> Bool {
        guard books[manager]?.record(event) != false else { return false }
        if case .stateChanged(let state, _) = event {
            for request in books[manager]?.requests(in: state) ?? [] {
                send(.central(request), from: manager)
            }
        }
        return true
    }

    // MARK: From the daemon

    /// The daemon has accepted the app.
    func joined(_ launch: LaunchOptions, _ authorization: ManagerAuthorization?) {
        hasBeenJoined = true
        reportedAway = []
        pause = Self.shortestPause
        client.state.with { state in
            state.complaint = nil
            state.launchOptions = launch
            if let authorization { state.authorization = authorization }
        }
    }

    func receive(_ event: ClientEvent, for manager: ManagerID) {
        switch event {
        case .retrieved, .updateQueued:
            client.handOver()
            return client.answer(event)
        // This process never ended, so its manager already knows what is restored.
        case .willRestoreCentral, .willRestorePeripheral: if madeBefore.contains(manager) { return skip(manager) }
        default: break
        }
        if track(event, for: manager) { deliver(event, to: manager) } else { skip(manager) }
    }

    /// The daemon has processed a request.
    func processed(_ number: UInt64) {
        client.handOver()
        waiting.removeValue(forKey: number)?()
    }

    /// The daemon speaks another protocol, or ends the connection.
    func close(_ reason: String) {
        refusal = reason
        stream?.close()
    }

    /// Ends like a killed process, without any event or message. Tests have many processes in one.
    func kill() {
        client.loop.run {
            self.client.removeAll()
            self.made = []
            self.retry?.cancel()
            self.retry = nil
            self.stream?.close()
            self.client.loop.runLater { self.client.loop.stop() }
        }
    }

    // MARK: To managers

    private func deliver(_ event: ClientEvent, to manager: ManagerID) { client.deliver(event, to: manager) }

    /// Counts an event that the manager does not receive as handled.
    func skip(_ manager: ManagerID) {
        client.skip(manager)
        if let returned = client.drainHandled(of: manager) { send(returned: returned.events, by: manager) }
    }

    func pair(_ event: PairingEvent, with shown: CBPairingPeer, _ peer: PairingPeer) {
        let refused = pairingState.handle(
            event, with: peer, agent: pairingAgent.map { AgentOfApp(agent: $0, shown: shown, address: peer.address) }
        ) { question, reply in self.client.loop.run { self.send(reply, to: question) } }
        if let refused { send(.cancel, to: refused) }
    }
}

extension ClientRequest {
    /// The creation of a manager that an earlier connection has created.
    fileprivate func continuing(_ continues: Bool) -> ClientRequest {
        switch self {
        case .createCentral(var options):
            options.continues = continues
            return .createCentral(options)
        case .createPeripheral(var options):
            options.continues = continues
            return .createPeripheral(options)
        case .release, .central, .peripheral, .channel: return self
        }
    }
}
