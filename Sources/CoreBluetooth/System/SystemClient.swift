import BLE
import BLEAppLifecycle
import Foundation

/// What a system knows for the managers of this process, wherever it is: in this process or in a daemon.
///
/// Everything is under one lock, because managers use it from their own queues.
final class SystemClient: Sendable {
    struct State {
        fileprivate var lastManager: UInt32 = 0
        fileprivate var lastQuery: UInt32 = 0
        fileprivate var managers: [ManagerID: ManagerSink] = [:]
        /// Queries for which their callers wait, and the answers that have come.
        fileprivate var answers: [QueryID: ClientEvent?] = [:]
        fileprivate var hasStarted = false
        /// Whether the app was woken, so that the machine must know when it has handled its events.
        var isWoken = false
        /// When the app's time is over, in microseconds of the loop's clock; `nil` if nothing limits it.
        var end: UInt64?
        var features: CBCentralManager.Feature = []
        var launchOptions = LaunchOptions()
        var authorization: ManagerAuthorization
        var overflow: OverflowSetting?
        fileprivate var onAlert: (@Sendable (CBApplication.Alert) -> Void)?
        fileprivate var onExpiration: (@Sendable () -> Void)?
        /// Why there is no Bluetooth, as the log has it.
        var complaint: String?
    }

    let state: Locked<State>
    let loop: EventLoop
    let tasks = BackgroundTasks()
    /// Only used on the loop.
    private let turn = TurnOfEvents()
    private let log: (@Sendable (String) -> Void)?
    /// Handled events are reported in groups of this size, earlier if none is left to handle; `nil`: when the machine
    /// waits for them.
    private let group: Int?

    /// - Parameters:
    ///   - loop: `nil` creates one.
    ///   - log: receives lines about the app's use of the API; `nil` uses the handler of `CBApplication.onLog(_:)`.
    init(
        _ environment: AppEnvironment, loop: EventLoop? = nil, group: Int? = nil, log: (@Sendable (String) -> Void)?
    ) {
        state = Locked(State(authorization: environment.authorization, overflow: environment.overflow))
        self.group = group
        self.log = log
        if let loop {
            self.loop = loop
            return
        }
        do throws(TransportError) {
            self.loop = try EventLoop(name: "jelling")
            try self.loop.start()
        } catch {
            // Fails only without memory or file descriptors for one thread; Apple's manager initializers cannot fail.
            fatalError("Core Bluetooth cannot start its thread: \(error)")
        }
    }

    func write(_ line: String) {
        if let log { return log(line) }
        MisuseLog.write(line)
    }

    /// Writes why there is no Bluetooth, unless that is known.
    func complain(of reason: String, _ line: (String) -> String) {
        let isNew = state.with { state in
            defer { state.complaint = reason }
            return state.complaint != reason
        }
        if isNew { write(line(reason)) }
    }

    // MARK: Managers

    /// - Returns: the new manager, and whether it is the first one of the process.
    func add(_ deliver: @escaping @Sendable ([ClientEvent]) -> Void) -> (ManagerID, isFirst: Bool) {
        state.with { state in
            state.lastManager += 1
            let id = ManagerID(rawValue: state.lastManager)
            state.managers[id] = ManagerSink(deliver: deliver)
            defer { state.hasStarted = true }
            return (id, !state.hasStarted)
        }
    }

    func remove(_ manager: ManagerID) { state.with { $0.managers[manager] = nil } }
    func removeAll() { state.with { $0.managers.removeAll() } }

    /// Counts events for a manager.
    /// - Returns: what delivers them.
    private func receiver(of manager: ManagerID, for count: Int) -> (@Sendable ([ClientEvent]) -> Void)? {
        state.with { state in
            state.managers[manager]?.countDelivered(count)
            return state.managers[manager]?.deliver
        }
    }

    /// A manager has handled so many events, with so many octets in them.
    /// - Returns: whether the machine is to know it now.
    func handled(_ count: Int, octets: Int, by manager: ManagerID) -> Bool {
        state.with { state in
            guard let isAwaited = state.managers[manager]?.handle(events: count, octets: octets) else { return false }
            if let group { return state.managers[manager]?.isWorthReporting(group) == true }
            return isAwaited || state.isWoken && state.managers[manager]?.isNewlyIdle == true
        }
    }

    /// Counts an event that the manager does not receive as handled.
    func skip(_ manager: ManagerID) { state.with { $0.managers[manager]?.skip() } }

    /// The handled events that the machine does not know; `nil` for none.
    func drainHandled(of manager: ManagerID) -> (events: Int, octets: Int)? {
        let returned = state.with { $0.managers[manager]?.drainHandled() }
        return returned.flatMap { $0.events > 0 ? $0 : nil }
    }

    /// The machine withholds events.
    /// - Returns: whether the manager has handled all others already.
    func withhold(_ manager: ManagerID) -> Bool { state.with { $0.managers[manager]?.withhold() ?? false } }

    /// The machine that delivered the unhandled events is gone.
    func forgetUnhandled() {
        state.with { state in
            for manager in state.managers.keys { state.managers[manager]?.forget() }
        }
    }

    /// Notes how long the app may run.
    /// - Returns: the managers that have handled everything, while the machine does not know it and waits for it.
    func setTime(until end: UInt64?, isWoken: Bool = false) -> [ManagerID] {
        state.with { state in
            (state.end, state.isWoken) = (end, isWoken)
            return isWoken ? state.managers.filter { $0.value.isNewlyIdle }.keys.sorted() : []
        }
    }

    // MARK: To managers

    /// Hands an event to a manager, on the loop: the first one of a turn at once, and those that follow it together, a
    /// part at a time, because each one that reaches another thread costs more than all else about it. What the events
    /// come before, such as an answer, must not pass them: call `handOver` first.
    func deliver(_ event: ClientEvent, to manager: ManagerID) {
        guard let first = turn.add(event, for: manager) else {
            loop.runLater { self.endTurn() }
            return hand([event], to: manager)
        }
        if first >= TurnOfEvents.partLimit { handOver() }
    }

    /// Hands over the events that wait for each other.
    func handOver() {
        turn.takeParts { hand($0, to: $1) }
    }

    private func endTurn() {
        handOver()
        turn.end()
    }

    private func hand(_ events: [ClientEvent], to manager: ManagerID) {
        receiver(of: manager, for: events.count)?(events)
    }

    // MARK: Queries

    fileprivate func nextQuery() -> QueryID {
        state.with { state in
            state.lastQuery &+= 1
            let query = QueryID(rawValue: state.lastQuery)
            state.answers[query] = .some(nil)
            return query
        }
    }

    /// Passes an answer to the caller that waits for it.
    func answer(_ event: ClientEvent) {
        guard let query = event.query else { return }
        state.with { if $0.answers[query] != nil { $0.answers[query] = .some(event) } }
    }

    fileprivate func removeAnswer(to query: QueryID) -> ClientEvent? {
        state.with { $0.answers.removeValue(forKey: query) ?? nil }
    }

    // MARK: The app

    func expire() {
        state.with { $0.onExpiration }?()
        tasks.expire()
    }

    func raise(_ alert: CBApplication.Alert) {
        if let body = state.with({ $0.onAlert }) { return body(alert) }
        write(alert.text)
    }
}

/// A system that has a client. It adds how requests get to the machine of the apps.
protocol ServedSystem: BluetoothSystem {
    var client: SystemClient { get }
    /// Begins, with the first manager.
    func begin()
    /// Passes a request on; calls `done` when it has been processed, or never will be.
    func submit(_ request: ClientRequest, from manager: ManagerID, then done: (@Sendable () -> Void)?)
    /// Reports to the machine what a manager has handled.
    func giveBack(of manager: ManagerID)
}

extension ServedSystem {
    func attach(_ deliver: @escaping @Sendable ([ClientEvent]) -> Void) -> ManagerID {
        let (id, isFirst) = client.add(deliver)
        if isFirst { begin() }
        return id
    }

    func detach(_ manager: ManagerID) { client.remove(manager) }

    func handled(_ count: Int, octets: Int, by manager: ManagerID) {
        if client.handled(count, octets: octets, by: manager) { giveBack(of: manager) }
    }

    func send(_ request: ClientRequest, from manager: ManagerID) { submit(request, from: manager, then: nil) }

    func sendAndWait(_ request: ClientRequest, from manager: ManagerID) {
        let done = DispatchSemaphore(value: 0)
        submit(request, from: manager) { done.signal() }
        done.wait()
    }

    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent? {
        let query = client.nextQuery()
        sendAndWait(make(query), from: manager)
        return client.removeAnswer(to: query)
    }

    func log(_ message: LogMessage) { client.write(message.text) }
    var authorization: ManagerAuthorization { client.state.with { $0.authorization } }
    var features: CBCentralManager.Feature { client.state.with { $0.features } }
    var tasks: BackgroundTasks { client.tasks }
    var launchOptions: LaunchOptions { client.state.with { $0.launchOptions } }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?) { client.state.with { $0.onAlert = body } }
    func onExpiration(_ body: (@Sendable () -> Void)?) { client.state.with { $0.onExpiration = body } }
    var overflow: OverflowSetting? { client.state.with { $0.overflow } }
    func setOverflow(_ setting: OverflowSetting) { client.state.with { $0.overflow = setting } }

    var secondsLeft: Double? {
        let now = client.loop.nowMicroseconds
        return client.state.with { $0.end }.map { $0 > now ? Double($0 - now) / 1_000_000 : 0 }
    }
}

extension ClientEvent {
    /// The query that the event answers.
    fileprivate var query: QueryID? {
        switch self {
        case .retrieved(let query, _), .updateQueued(let query, _): query
        default: nil
        }
    }
}
