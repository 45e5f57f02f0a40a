@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEDaemonClient
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import Foundation

/// The system behind a daemon: requests of managers go to the daemon over a socket, and events come back.
///
///     away ──connected──▶ joined ──daemon gone──▶ away, managers become `resetting`
///
/// When the daemon returns, it receives the managers again. Managers are told only once that they were restored.
final class DaemonSystem: BluetoothSystem, @unchecked Sendable {
    // @unchecked Sendable holds because `sinks` has a lock, and only the loop changes the rest.
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

    /// Delivers events to one manager. For each unhandled event, it keeps the connection over which the event came; 0
    /// for an event of this side.
    private struct Sink {
        let deliver: @Sendable (ClientEvent) -> Void
        var unhandled = Queue<UInt32>()
        /// The number of handled events that have not been reported to the daemon.
        var returned: UInt32 = 0
    }

    private struct Sinks {
        var lastManager: UInt32 = 0
        var lastQuery: UInt32 = 0
        var managers: [ManagerID: Sink] = [:]
        var connection: UInt32 = 0
        var features: CBCentralManager.Feature = []
        var launchOptions = LaunchOptions()
        var authorization: ManagerAuthorization
        var overflow: OverflowSetting?
        var onAlert: (@Sendable (CBApplication.Alert) -> Void)?
        var onExpiration: (@Sendable () -> Void)?
        var hasStarted = false
        /// When the app's time is over, in microseconds of the loop's clock; `nil` if nothing limits it.
        var end: UInt64?
    }

    /// Handled events are reported to the daemon in groups of this size; earlier if none is left to handle.
    private static let returnedAtOnce: UInt32 = 64
    /// How long to wait after a failure before connecting to the daemon again, in microseconds; longer each time.
    private static let shortestPause: UInt64 = 200_000
    private static let longestPause: UInt64 = 5_000_000

    private let loop: EventLoop
    private let configuration: Configuration
    private let sinks: Locked<Sinks>
    let tasks = BackgroundTasks()

    // Used only on the loop.
    private var stream: ByteStream?
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var retry: EventLoop.Deadline?
    private var pause = DaemonSystem.shortestPause
    private var complaint: String?
    /// The daemon's last message if it ended the connection.
    private var refusal: String?
    private var hasBeenJoined = false
    /// Managers that have been told since the last connection that the daemon is away.
    private var toldAway: Set<ManagerID> = []
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
    private var queries: [QueryID: (ClientEvent?) -> Void] = [:]
    private var isInBackground: Bool
    private var pairingAgent: (any CBPairingAgent)?
    private var pairing: PairingSettings
    private var pairingState = AdapterSecurity()

    init(_ configuration: Configuration) {
        self.configuration = configuration
        let environment = configuration.environment
        sinks = Locked(Sinks(authorization: environment.authorization, overflow: environment.overflow))
        isInBackground = !configuration.environment.startsInForeground
        pairingAgent = configuration.pairingAgent
        pairing = configuration.pairing
        do throws(TransportError) {
            loop = try EventLoop(name: "jelling")
            try loop.start()
        } catch {
            // Fails only without memory or file descriptors for one thread; Apple's manager initializers cannot fail.
            fatalError("Core Bluetooth cannot start its thread: \(error)")
        }
    }

    // MARK: Managers

    func attach(_ deliver: @escaping @Sendable (ClientEvent) -> Void) -> ManagerID {
        let (id, isFirst) = sinks.with { sinks in
            sinks.lastManager += 1
            let id = ManagerID(rawValue: sinks.lastManager)
            sinks.managers[id] = Sink(deliver: deliver)
            defer { sinks.hasStarted = true }
            return (id, !sinks.hasStarted)
        }
        if isFirst {
            loop.run {
                self.retry = self.loop.makeDeadline { self.join() }
                self.join()
            }
        }
        return id
    }

    func detach(_ manager: ManagerID) { sinks.with { $0.managers[manager] = nil } }

    func handled(_ event: ClientEvent, by manager: ManagerID) {
        let isDue = sinks.with { sinks in
            guard let connection = sinks.managers[manager]?.unhandled.popFirst(), connection == sinks.connection else {
                return false
            }
            sinks.managers[manager]?.returned += 1
            guard let sink = sinks.managers[manager] else { return false }
            return sink.unhandled.isEmpty || sink.returned >= Self.returnedAtOnce
        }
        if isDue { loop.run { self.giveBack(of: manager) } }
    }

    func send(_ request: ClientRequest, from manager: ManagerID) {
        loop.run { self.submit(request, from: manager) }
    }

    func sendAndWait(_ request: ClientRequest, from manager: ManagerID) {
        let done = DispatchSemaphore(value: 0)
        loop.run {
            self.lastNumber += 1
            let number = self.lastNumber
            self.waiting[number] = { done.signal() }
            self.submit(request, from: manager, number: number)
        }
        done.wait()
    }

    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent? {
        let query = sinks.with { sinks in
            sinks.lastQuery &+= 1
            return QueryID(rawValue: sinks.lastQuery)
        }
        let request = make(query)
        let done = DispatchSemaphore(value: 0)
        let answer = Locked<ClientEvent?>(nil)
        loop.run {
            self.lastNumber += 1
            let number = self.lastNumber
            self.queries[query] = { told in answer.with { $0 = told } }
            // Without an answer, the query ends here.
            self.waiting[number] = {
                self.queries[query] = nil
                done.signal()
            }
            self.submit(request, from: manager, number: number)
        }
        done.wait()
        return answer.current
    }

    func log(_ message: LogMessage) { write(message.text) }

    func write(_ line: String) {
        if let log = configuration.log { return log(line) }
        MisuseLog.write(line)
    }

    var authorization: ManagerAuthorization { sinks.with { $0.authorization } }
    var features: CBCentralManager.Feature { sinks.with { $0.features } }

    // MARK: The app

    func move(_ move: AppMove) {
        loop.run {
            self.isInBackground = move != .foreground
            self.send(.appMove(move, tasks: nil))
        }
    }

    var launchOptions: LaunchOptions { sinks.with { $0.launchOptions } }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?) { sinks.with { $0.onAlert = body } }
    func onExpiration(_ body: (@Sendable () -> Void)?) { sinks.with { $0.onExpiration = body } }
    var overflow: OverflowSetting? { sinks.with { $0.overflow } }
    func setOverflow(_ setting: OverflowSetting) { sinks.with { $0.overflow = setting } }

    func tasksChanged(to count: Int) { loop.run { self.sendTasks(count) } }

    private func sendTasks(_ count: Int) {
        send(.appMove(nil, tasks: count))
    }

    var secondsLeft: Double? {
        let now = loop.nowMicroseconds
        return sinks.with { $0.end }.map { $0 > now ? Double($0 - now) / 1_000_000 : 0 }
    }

    /// - Parameter milliseconds: how long the app may still run; the greatest number if nothing limits it.
    func setTimeLeft(_ milliseconds: UInt32) {
        let end = milliseconds == .max ? nil : loop.nowMicroseconds + UInt64(milliseconds) * 1000
        sinks.with { $0.end = end }
    }

    func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings) {
        loop.run {
            self.pairingAgent = agent
            self.pairing = settings
            self.sendPairing()
        }
    }

    private func sendPairing() {
        var options = PairingOptions()
        pairing.apply(to: &options)
        send(.appPairing(asksSomebody: pairingAgent != nil, options))
    }

    // MARK: To the daemon

    private func submit(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        switch request {
        case .createCentral, .createPeripheral:
            made.append((manager, request))
            if case .createCentral = request { books[manager] = ConnectionBook() }
            if stream == nil { tellAway(manager) }
        case .release:
            made.removeAll { $0.manager == manager }
            madeBefore.remove(manager)
            toldAway.remove(manager)
            books[manager] = nil
        case .central(let request): books[manager]?.note(request, isAway: stream == nil)
        case .peripheral, .channel: break
        }
        guard stream != nil else {
            waiting.removeValue(forKey: number)?()
            return
        }
        send(.appRequest(AppRequest(request, from: manager, number: number)))
    }

    private func send(_ message: FromClient) { stream?.send(message.framed().span.bytes) }

    private func giveBack(of manager: ManagerID) {
        let count = sinks.with { sinks in
            defer { sinks.managers[manager]?.returned = 0 }
            return sinks.managers[manager]?.returned ?? 0
        }
        guard count > 0 else { return }
        send(.appReturned(manager, events: Int(count)))
    }

    // MARK: The connection

    private func join() {
        do throws(TransportError) {
            let stream = try DaemonClient.connect(to: configuration.socketPath)
            try stream.start(on: loop, receive: { self.receive($0) }, closed: { self.left($0) })
            self.stream = stream
        } catch {
            return isAway(error.description)
        }
        frames = FrameReader(limit: BledProtocol.eventLimit)
        refusal = nil
        sinks.with { $0.connection += 1 }
        var app = AppGreeting(configuration.environment.identifier)
        app.backgroundModes = configuration.environment.modeNames
        app.startsInBackground = isInBackground
        app.showsSystemServices = configuration.environment.showsSystemServices
        app.authorization = configuration.environment.authorization
        send(.hello(Greeting(.app, app: app)))
        sendPairing()
        let count = tasks.count
        if count > 0 { sendTasks(count) }
        for (manager, request) in made {
            if hasBeenJoined { madeBefore.insert(manager) }
            send(.appRequest(AppRequest(request.continuing(isMadeAgain(manager)), from: manager)))
        }
    }

    private func left(_ error: TransportError?) {
        stream = nil
        let waiting = waiting
        self.waiting = [:]
        for (_, body) in waiting { body() }
        isAway(refusal.map { "the daemon ended the connection: \($0)" } ?? error?.description ?? "the daemon is gone")
    }

    /// Reports that the daemon is away and keeps trying to connect.
    private func isAway(_ reason: String) {
        if complaint != reason { write("no Bluetooth: \(reason)") }
        complaint = reason
        let state: ManagerState = hasBeenJoined ? .resetting : .unsupported
        if state != stateWhileAway { toldAway = [] }
        stateWhileAway = state
        for (manager, _) in made { tellAway(manager) }
        retry?.set(atMicroseconds: loop.nowMicroseconds + pause)
        pause = min(2 * pause, Self.longestPause)
    }

    private func tellAway(_ manager: ManagerID) {
        guard toldAway.insert(manager).inserted else { return }
        tell(.stateChanged(stateWhileAway, authorization), to: manager, over: 0)
        let ended = books[manager]?.lose(microseconds: Int64(loop.nowMicroseconds)) ?? []
        for event in ended { tell(event, to: manager, over: 0) }
    }

    /// Notes what a manager has of the daemon, and asks again for what it had of an earlier one.
    /// - Returns: whether the manager is to be told.
    func note(_ event: ClientEvent, for manager: ManagerID) -> Bool {
        guard books[manager]?.note(event) != false else { return false }
        if case .stateChanged(let state, _) = event {
            for request in books[manager]?.requests(in: state) ?? [] {
                send(.appRequest(AppRequest(.central(request), from: manager)))
            }
        }
        return true
    }

    private func receive(_ bytes: RawSpan) {
        frames.append(bytes)
        do throws(MessageError) {
            while let octets = try frames.next() { take(try FromDaemon(octets: octets)) }
        } catch {
            refusal = "it speaks another protocol: \(error)"
            stream?.close()
        }
    }

    private func take(_ message: FromDaemon) {
        switch message {
        case .appWelcome(let options, let authorization):
            hasBeenJoined = true
            toldAway = []
            complaint = nil
            pause = Self.shortestPause
            sinks.with { sinks in
                sinks.launchOptions = options
                sinks.authorization = authorization
            }
        case .appEvent(let told):
            guard let event = told.event else { return skip(told.manager) }
            take(event, for: told.manager)
        case .appTaken(let number): waiting.removeValue(forKey: number)?()
        case .appNotice(let notice): take(notice)
        case .appPairing(let progress): take(progress)
        case .refusal(_, let text): refusal = text
        // Messages for tools and operators, or of a newer daemon.
        case .welcome, .lost, .event, .completed, .discovered, .advertisingSet, .train, .advertisingRoom,
            .operatorAnswer, .packet, .alert, .unknown:
            break
        }
    }

    /// Ends like a killed process, without any event or message. Tests have many processes in one.
    func kill() {
        loop.run {
            self.sinks.with { $0.managers.removeAll() }
            self.made = []
            self.retry?.cancel()
            self.retry = nil
            self.stream?.close()
            self.loop.runLater { self.loop.stop() }
        }
    }

    // MARK: To managers

    /// - Parameter connection: the connection over which the event came; `nil` for the current one, 0 for an event of
    ///   this side.
    func tell(_ event: ClientEvent, to manager: ManagerID, over connection: UInt32? = nil) {
        let deliver = sinks.with { sinks in
            sinks.managers[manager]?.unhandled.append(connection ?? sinks.connection)
            return sinks.managers[manager]?.deliver
        }
        deliver?(event)
    }

    /// Counts an event that the manager does not receive as handled.
    func skip(_ manager: ManagerID) {
        sinks.with { $0.managers[manager]?.returned += 1 }
        giveBack(of: manager)
    }

    func answer(_ query: QueryID, with event: ClientEvent) { queries.removeValue(forKey: query)?(event) }
    func isMadeAgain(_ manager: ManagerID) -> Bool { madeBefore.contains(manager) }
    func expire() {
        sinks.with { $0.onExpiration }?()
        tasks.expire()
    }

    func setFeatures(_ features: CBCentralManager.Feature) { sinks.with { $0.features = features } }

    func raise(_ alert: Alert) {
        let told = CBApplication.Alert(alert)
        if let body = sinks.with({ $0.onAlert }) { return body(told) }
        write(told.text)
    }

    func pair(_ event: PairingEvent, with told: CBPairingPeer, _ peer: PairingPeer) {
        let refused = pairingState.handle(
            event, with: peer, agent: pairingAgent.map { AgentOfApp(agent: $0, told: told, address: peer.address) }
        ) { question, reply in self.loop.run { self.answer(question, reply) } }
        if let refused { answer(refused, .cancel) }
    }

    private func answer(_ question: PairingQuestionID, _ answer: PairingAnswer) {
        send(.appAnswer(question, answer))
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
