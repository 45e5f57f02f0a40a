import BLEAppLifecycle
import Foundation

/// What stands behind the managers of a process: here, in this process, or in another.
///
/// Only values cross it, so that a daemon can stand in its place.
protocol BluetoothSystem: AnyObject, Sendable {
    /// A new manager's number; what it is told goes to `deliver`, in order, on a thread of the system's.
    func attach(_ deliver: @escaping @Sendable (ClientEvent) -> Void) -> ManagerID
    /// The next of the events that were delivered to this manager has been handled on its queue.
    func handled(_ event: ClientEvent, by manager: ManagerID)
    /// Nothing more is told to this manager.
    func detach(_ manager: ManagerID)
    func send(_ request: ClientRequest, from manager: ManagerID)
    /// Sends and waits until the request has been taken in; what it caused has been delivered by then.
    func sendAndWait(_ request: ClientRequest, from manager: ManagerID)
    /// Asks, and waits for the answer; `nil` where the system is gone.
    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent?
    func log(_ message: LogMessage)
    var authorization: ManagerAuthorization { get }
    /// What the controller can do; nothing while it is not known.
    var features: CBCentralManager.Feature { get }

    // The life of the app.
    func move(_ move: AppMove)
    var launchOptions: LaunchOptions { get }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?)
    func onExpiration(_ body: (@Sendable () -> Void)?)
    /// Who is asked while devices pair, and what that one can do.
    func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings)
}

/// The system that new managers of this process belong to.
enum CurrentSystem {
    /// Another one for the managers that are made within: tests have many.
    @TaskLocal static var override: (any BluetoothSystem)?

    static var system: any BluetoothSystem { override ?? shared }

    private static let shared: any BluetoothSystem = {
        let environment = AppEnvironment.current
        if let path = environment.socketPath { return DaemonSystem(.init(environment, socketPath: path)) }
        let local = LocalSystem(LocalSystem.Configuration(environment))
        // A closure for C can catch nothing.
        handBack.with { $0 = { local.handBack() } }
        atexit { CurrentSystem.handBack.current?() }
        return local
    }()

    private static let handBack = Locked<(@Sendable () -> Void)?>(nil)
}

/// The way from one manager to the system and back to the manager's queue.
final class ManagerChannel: @unchecked Sendable {
    // @unchecked Sendable holds because `id` and `manager` are set once, before the first event can come.
    let queue: DispatchQueue
    /// Whether delegates are called on the main queue.
    let usesMainQueue: Bool
    private let system: any BluetoothSystem
    private var id = ManagerID(rawValue: 0)
    private weak var manager: CBManager?
    private let closed = Locked(false)
    /// Discoveries that the delegate has not been told yet.
    private let waitingDiscoveries = Locked(0)
    /// Beyond so many, discoveries are dropped and counted: an app that is slower than the air stays small.
    private static let discoveryLimit = 4096

    /// - Parameter queue: of the delegate; `nil`: main (SPEC CEN-1).
    init(queue: DispatchQueue?, system: any BluetoothSystem) {
        self.system = system
        // Foundation makes an object for the main queue each time that it is asked.
        usesMainQueue = queue.map { $0.label == DispatchQueue.main.label } ?? true
        // A queue of our own before the app's keeps the order even where that one runs its work side by side. It has the
        // name of the app's, which is the one that an app sees when it asks where it is.
        self.queue = queue.map { DispatchQueue(label: $0.label, target: $0) } ?? .main
    }

    /// Begins to deliver to `manager`, on its queue and never inside the call that caused an event.
    func open(for manager: CBManager) {
        self.manager = manager
        let queue = queue
        id = system.attach { [weak self] event in
            guard let self, let manager = self.manager else { return }
            if case .discovered = event { return self.deliverDiscovery(event, to: manager) }
            manager.foresee(event)
            queue.async { [weak self] in self?.carryOut(event) }
        }
    }

    private func carryOut(_ event: ClientEvent) {
        manager?.receive(event)
        system.handled(event, by: id)
    }

    private func deliverDiscovery(_ event: ClientEvent, to manager: CBManager) {
        let hasRoom = waitingDiscoveries.with { waiting in
            guard waiting < Self.discoveryLimit else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else {
            manager.noteLost(1)
            return system.handled(event, by: id)
        }
        queue.async { [weak self] in
            self?.waitingDiscoveries.with { $0 -= 1 }
            self?.carryOut(event)
        }
    }

    /// Nothing is asked any more: with its manager went all that the manager wanted.
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
