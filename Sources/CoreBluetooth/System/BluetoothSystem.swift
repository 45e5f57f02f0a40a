import BLEAppLifecycle
import BLEMessages
import Foundation

/// The system behind the managers of a process: in this process, or in a daemon.
///
/// Only values cross this interface, so that a daemon can implement it.
protocol BluetoothSystem: AnyObject, Sendable {
    /// Returns a new manager's identifier. Its events go to `deliver`, in order, on a thread of the system.
    func attach(_ deliver: @escaping @Sendable (ClientEvent) -> Void) -> ManagerID
    /// Reports that the queue of this manager has handled the next of its delivered events.
    func handled(_ event: ClientEvent, by manager: ManagerID)
    /// Ends delivery to this manager.
    func detach(_ manager: ManagerID)
    func send(_ request: ClientRequest, from manager: ManagerID)
    /// Sends a request and waits until it has been processed; its events have been delivered by then.
    func sendAndWait(_ request: ClientRequest, from manager: ManagerID)
    /// Sends a query and waits for the answer; `nil` if the system is gone.
    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent?
    func log(_ message: LogMessage)
    var authorization: ManagerAuthorization { get }
    /// The controller's features; empty while they are unknown.
    var features: CBCentralManager.Feature { get }

    // The life cycle of the app.
    func move(_ move: AppMove)
    var launchOptions: LaunchOptions { get }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?)
    func onExpiration(_ body: (@Sendable () -> Void)?)
    /// The tasks that the app has begun and not ended.
    var tasks: BackgroundTasks { get }
    /// Reports how many tasks there are; returns at once.
    func tasksChanged(to count: Int)
    /// How long the app may still run; `nil` if nothing limits it.
    var secondsLeft: Double? { get }
    /// Sets who is asked during pairing, and with what capability.
    func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings)
    /// What new managers say about the overflow area of their advertisements; `nil`: nothing.
    var overflow: OverflowSetting? { get }
    func setOverflow(_ setting: OverflowSetting)
}

/// The system that new managers of this process belong to.
enum CurrentSystem {
    /// Another system for the managers that are created within a scope: tests have many.
    @TaskLocal static var override: (any BluetoothSystem)?

    /// Another system for all managers that are created from now on, outside such scopes.
    static let replacement = Locked<(any BluetoothSystem)?>(nil)

    static var system: any BluetoothSystem { override ?? replacement.current ?? shared }

    private static let shared: any BluetoothSystem = {
        let environment = AppEnvironment.current
        if let path = environment.socketPath { return DaemonSystem(.init(environment, socketPath: path)) }
        let local = LocalSystem(LocalSystem.Configuration(environment))
        // A C callback cannot capture anything.
        handBack.with { $0 = { local.handBack() } }
        atexit { CurrentSystem.handBack.current?() }
        return local
    }()

    private static let handBack = Locked<(@Sendable () -> Void)?>(nil)
}

/// Connects one manager to the system, and delivers events on the manager's queue.
final class ManagerChannel: @unchecked Sendable {
    // @unchecked Sendable is safe because `id` and `manager` are set once, before the first event can come.
    let queue: DispatchQueue
    /// Whether the delegate is called on the main queue.
    let usesMainQueue: Bool
    private let system: any BluetoothSystem
    private var id = ManagerID(rawValue: 0)
    private weak var manager: CBManager?
    private let closed = Locked(false)
    /// The events that the delegate has not received yet.
    private let inbox = Locked(Inbox())
    /// The number of discoveries that the delegate has not received yet.
    private let waitingDiscoveries = Locked(0)
    /// Beyond this number, discoveries are dropped and counted, so that a slow app does not use more and more memory.
    private static let discoveryLimit = 4096

    private struct Inbox {
        var events: [ClientEvent] = []
        /// An empty array with room.
        var spare: [ClientEvent] = []
    }

    /// - Parameter queue: the queue of the delegate; `nil`: the main queue (SPEC CEN-1).
    init(queue: DispatchQueue?, system: any BluetoothSystem) {
        self.system = system
        // Foundation may return a different object for the main queue each time.
        usesMainQueue = queue.map { $0.label == DispatchQueue.main.label } ?? true
        // A serial queue in front of the app's keeps the order even if the app's queue is concurrent. It has the
        // label of the app's queue, because an app that checks its current queue sees that label.
        self.queue = queue.map { DispatchQueue(label: $0.label, target: $0) } ?? .main
    }

    /// Starts delivery to `manager`, on its queue and never inside the call that caused an event.
    func open(for manager: CBManager) {
        self.manager = manager
        id = system.attach { [weak self] event in
            guard let self, let manager = self.manager else { return }
            if case .discovered = event { return self.deliverDiscovery(event, to: manager) }
            manager.foresee(event)
            enqueue(event)
        }
    }

    /// Events that come before the queue has begun with the first of them reach it together: to wake it costs more than
    /// to handle one. What the app puts on its queue meanwhile stays behind them.
    private func enqueue(_ event: ClientEvent) {
        let isFirst = inbox.with { inbox in
            inbox.events.append(event)
            return inbox.events.count == 1
        }
        if isFirst { queue.async { [weak self] in self?.carryOut() } }
    }

    private func carryOut() {
        var events = inbox.with { inbox in
            var events: [ClientEvent] = []
            swap(&events, &inbox.spare)
            swap(&events, &inbox.events)
            return events
        }
        for event in events {
            if case .discovered = event { waitingDiscoveries.with { $0 -= 1 } }
            manager?.receive(event)
            system.handled(event, by: id)
        }
        guard events.capacity <= Self.discoveryLimit else { return }
        events.removeAll(keepingCapacity: true)
        inbox.with { swap(&$0.spare, &events) }
    }

    private func deliverDiscovery(_ event: ClientEvent, to manager: CBManager) {
        let hasRoom = waitingDiscoveries.with { waiting in
            guard waiting < Self.discoveryLimit else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else {
            manager.countLost(1)
            return system.handled(event, by: id)
        }
        enqueue(event)
    }

    /// Closes the channel. Everything that the manager requested ends with it.
    func close() {
        closed.with { $0 = true }
        system.send(.release, from: id)
        system.detach(id)
    }

    var isClosed: Bool { closed.current }

    func send(_ request: ClientRequest) {
        if !isClosed { system.send(request, from: id) }
    }

    func sendAndWait(_ request: ClientRequest) { system.sendAndWait(request, from: id) }
    func ask(_ make: (QueryID) -> ClientRequest) -> ClientEvent? { system.ask(id, make) }
    func send(_ request: CentralManagerRequest) { send(.central(request)) }
    func send(_ request: PeripheralManagerRequest) { send(.peripheral(request)) }
    func send(_ request: PeripheralRequest, to peer: PeerIdentifier) { send(.peripheral(peer, request)) }
    func log(_ message: LogMessage) { system.log(message) }
    var authorization: ManagerAuthorization { system.authorization }
}
