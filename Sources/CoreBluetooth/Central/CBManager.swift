import BLEAppLifecycle
import Foundation

/// The base of both managers: the state of Bluetooth (SPEC 2.3).
///
/// Key-value observing does not exist on Linux: to follow the state without a delegate, use `states`.
open class CBManager: NSObject {
    let role: ManagerRole
    let channel: ManagerChannel
    private let standing = Locked(Standing())

    private struct Standing {
        var state = CBManagerState.unknown
        var authorization: CBManagerAuthorization
        /// Whether a delegate has received the state.
        var hasDelivered = false
        var lostEvents = 0
        var observers: [Int: AsyncStream<CBManagerState>.Continuation] = [:]
        var lastObserver = 0

        init() { authorization = .allowedAlways }
    }

    init(role: ManagerRole, queue: DispatchQueue?, options: ManagerOptions) {
        self.role = role
        let system = CurrentSystem.system
        channel = ManagerChannel(queue: queue, system: system)
        super.init()
        standing.with { $0.authorization = CBManagerAuthorization(channel.authorization) }
        channel.open(for: self)
        var options = options
        if role == .peripheral { options.overflow = system.overflow }
        channel.send(role == .central ? .createCentral(options) : .createPeripheral(options))
    }

    deinit {
        channel.close()
        L2CAPChannelTable.shared.endAll(of: channel)
        for (_, observer) in standing.current.observers { observer.finish() }
    }

    /// What the manager can do now; `.unknown` until the delegate has been called for the first time.
    open var state: CBManagerState { standing.with { $0.state } }

    /// Whether this app may use Bluetooth.
    @available(*, deprecated, message: "use the class property")
    open var authorization: CBManagerAuthorization { standing.with { $0.authorization } }

    /// Whether this app may use Bluetooth, according to its manifest.
    open class var authorization: CBManagerAuthorization { CBManagerAuthorization(CurrentSystem.system.authorization) }

    /// The state now and at each change. It replaces key-value observing on Linux.
    public var states: AsyncStream<CBManagerState> {
        let (stream, continuation) = AsyncStream<CBManagerState>.makeStream()
        let number = standing.with { standing in
            standing.lastObserver += 1
            standing.observers[standing.lastObserver] = continuation
            continuation.yield(standing.state)
            return standing.lastObserver
        }
        let standing = standing
        continuation.onTermination = { _ in standing.with { $0.observers[number] = nil } }
        return stream
    }

    /// The number of events that were dropped because the app was suspended or handled events too slowly.
    /// Disconnections are never dropped (SPEC 5.5 rule 2). Not in Apple's API.
    public var lostEventCount: Int { standing.with { $0.lostEvents } }

    // MARK: Events of the system

    /// Handles what must be known before the delegate's queue has time; called on the system's thread.
    func foresee(_ event: ClientEvent) {}

    /// Carries out an event on the delegate's queue.
    func receive(_ event: ClientEvent) {
        switch event {
        case .stateChanged(let state, let authorization):
            let state = CBManagerState(rawValue: state.rawValue) ?? .unknown
            standing.with {
                $0.state = state
                $0.authorization = CBManagerAuthorization(authorization)
                for (_, observer) in $0.observers { observer.yield(state) }
            }
            lost(in: state)
            deliver(state)
        case .statePassed(let state): lost(in: CBManagerState(rawValue: state.rawValue) ?? .unknown)
        case .eventsLost(let count):
            countLost(count)
        // The managers of the two roles handle the others, or the caller that asked has received them already.
        default: break
        }
    }

    func countLost(_ count: Int) { standing.with { $0.lostEvents += count } }

    private func lost(in state: CBManagerState) {
        if state != .poweredOn { L2CAPChannelTable.shared.endAll(of: channel) }
        lose(in: state)
    }

    /// Discards what is no longer valid when Bluetooth is, or was, in this state (SPEC 2.3, 2.4).
    func lose(in state: CBManagerState) {}

    /// Calls the delegate.
    /// - Returns: whether there is one.
    func stateChanged(to state: CBManagerState) -> Bool { false }

    private func deliver(_ state: CBManagerState) {
        // Before the call: the delegate may set a delegate in it.
        let hadDelivered = standing.with { standing in
            defer { standing.hasDelivered = true }
            return standing.hasDelivered
        }
        if !stateChanged(to: state), !hadDelivered { standing.with { $0.hasDelivered = false } }
    }

    /// Whether commands are accepted. The system checks again: it may have newer information than the queue.
    var isPoweredOn: Bool { state == .poweredOn }

    /// Calls the first delegate with the current state, on its queue. A delegate that replaces another, or is set
    /// again, receives only changes, as on Apple's system.
    func announceState() {
        guard isUndelivered else { return }
        let box = WeakManager(manager: self)
        channel.queue.async {
            guard let manager = box.manager, manager.isUndelivered else { return }
            manager.deliver(manager.state)
        }
    }

    private var isUndelivered: Bool { standing.with { !$0.hasDelivered && $0.state != .unknown } }

    /// A property by its name, for the keys of Apple's classes that libraries use: `state` and `authorization`.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "state": state.rawValue
        case "authorization": Self.authorization.rawValue
        default: nil
        }
    }
}

/// Passes a manager to its own queue without keeping it alive.
struct WeakManager: @unchecked Sendable {
    // @unchecked Sendable is safe because the manager is used only on its queue.
    weak var manager: CBManager?
}

extension CBManagerAuthorization {
    init(_ authorization: ManagerAuthorization) { self = Self(rawValue: authorization.rawValue) ?? .notDetermined }
}
