import BLEAppLifecycle
import BLEMessages
import Foundation

/// The system behind the managers of a process: in this process, or in a daemon.
///
/// Only values cross this interface, so that a daemon can implement it.
protocol BluetoothSystem: AnyObject, Sendable {
    /// Returns a new manager's identifier. Its events go to `deliver`, in order, on a thread of the system, those
    /// together that come together.
    func attach(_ deliver: @escaping @Sendable ([ClientEvent]) -> Void) -> ManagerID
    /// Reports that the queue of this manager has handled the next `count` of its delivered events.
    /// - Parameter octets: those in the events (`ClientEvent.approximateOctets`).
    func handled(_ count: Int, octets: Int, by manager: ManagerID)
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
    /// Beyond this number, discoveries are dropped and counted, so that a slow app does not use more and more memory.
    private static let discoveryLimit = 4096
    /// So many events are reported as handled together: the system's thread uses the same lock.
    private static let handledAtOnce = 16

    private struct Inbox {
        var events: [ClientEvent] = []
        /// An empty array with room.
        var spare: [ClientEvent] = []
        /// The number of discoveries that the delegate has not received yet.
        var discoveries = 0

        /// - Returns: whether there was room.
        mutating func append(_ event: ClientEvent) -> Bool {
            if case .discovered = event {
                guard discoveries < ManagerChannel.discoveryLimit else { return false }
                discoveries += 1
            }
            events.append(event)
            return true
        }
    }

    /// Events that the delegate has received, or that were dropped, and that the system does not know to be handled.
    private struct Handled {
        var events = 0
        var octets = 0
        var discoveries = 0

        mutating func count(_ event: ClientEvent) {
            events += 1
            octets += event.approximateOctets
            if case .discovered = event { discoveries += 1 }
        }
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
        id = system.attach { [weak self] events in
            guard let self, let manager = self.manager else { return }
            enqueue(events, for: manager)
        }
    }

    /// Events that come before the queue has begun with the first of them reach it together: to wake it costs more than
    /// to handle one. What the app puts on its queue meanwhile stays behind them.
    private func enqueue(_ events: [ClientEvent], for manager: CBManager) {
        for event in events { manager.foresee(event) }
        var dropped = Handled()
        let isFirst = inbox.with { inbox in
            let wasEmpty = inbox.events.isEmpty
            for event in events where !inbox.append(event) { dropped.count(event) }
            return wasEmpty && !inbox.events.isEmpty
        }
        if isFirst { queue.async { [weak self] in self?.carryOut() } }
        guard dropped.events > 0 else { return }
        manager.countLost(dropped.events)
        system.handled(dropped.events, octets: dropped.octets, by: id)
    }

    private func carryOut() {
        var events = inbox.with { inbox in
            var events: [ClientEvent] = []
            swap(&events, &inbox.spare)
            swap(&events, &inbox.events)
            return events
        }
        var handled = Handled()
        for event in events {
            manager?.receive(event)
            handled.count(event)
            if handled.events == Self.handledAtOnce { report(&handled) }
        }
        if handled.events > 0 { report(&handled) }
        guard events.capacity <= Self.discoveryLimit else { return }
        events.removeAll(keepingCapacity: true)
        inbox.with { swap(&$0.spare, &events) }
    }

    private func report(_ handled: inout Handled) {
        let discoveries = handled.discoveries
        if discoveries > 0 { inbox.with { $0.discoveries -= discoveries } }
        system.handled(handled.events, octets: handled.octets, by: id)
        handled = Handled()
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
