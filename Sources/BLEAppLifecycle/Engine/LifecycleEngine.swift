import BLEHost
import BLEPackets

/// An engine below `AppLifecycle`: it accepts commands and reports events. `Host` is one, and so is a runner with a
/// `Host` on a transport.
public protocol LifecycleHost: ~Copyable {
    /// Submits a command to the engine.
    /// - Returns: `nil` if there is no engine yet: the command is dropped.
    mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID?
    /// The next event of the engine; `nil` if there is none.
    mutating func nextEvent() -> HostEvent?
    /// Whether the engine has a transport, as far as it has reported that the controller is ready. The loss itself is
    /// no event: what it ends is.
    var hasTransport: Bool { get }
    /// When to call `advance(to:)`; `nil` if the engine has its own timer.
    var nextDeadline: Instant? { get }
    /// Reports that time has passed.
    mutating func advance(to now: Instant)
}

/// An engine that has a timer.
extension LifecycleHost where Self: ~Copyable {
    public var nextDeadline: Instant? { nil }
    public mutating func advance(to now: Instant) {}
}

/// An engine that may be missing, because its transport is not known yet.
extension Optional: LifecycleHost where Wrapped: LifecycleHost {
    public mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        self?.take(command, from: client, at: now)
    }

    public mutating func nextEvent() -> HostEvent? { self?.nextEvent() }
    public var hasTransport: Bool { self?.hasTransport ?? false }
    public var nextDeadline: Instant? { self?.nextDeadline }
    public mutating func advance(to now: Instant) { self?.advance(to: now) }
}

extension Host: LifecycleHost {
    /// While the controller is not ready, apps have no more of it than without a transport.
    public var hasTransport: Bool { isReady }

    public mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        submit(command, from: client, at: now)
    }
}

/// An engine and its apps in one machine with an interface like that of `Host`, for an app's process or a daemon.
///
/// One step handles one event of the engine: the apps receive it, and their commands are submitted before the next
/// event. Each input ends with as many steps as there are events.
///
///     engine.receive(packet, at: now)
///     engine.drainPackets { transport.send($0) }
///     while let output = engine.nextOutput() { … }
///     timer.set(engine.nextDeadline)
public struct LifecycleEngine<Engine: LifecycleHost & ~Copyable>: ~Copyable {
    private var host: Engine
    /// The apps, for reading; inputs go through `withApps(at:_:)`.
    public private(set) var apps: AppLifecycle
    private var hostEvents = Queue<HostEvent>()

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: the state from the journal.
    public init(
        on host: consuming Engine, settings: LifecycleSettings = LifecycleSettings(), seed: [UInt8],
        restoring state: PreservedState = PreservedState()
    ) {
        self.host = host
        apps = AppLifecycle(settings: settings, seed: seed, restoring: state)
    }

    // MARK: Inputs

    /// An input for the apps; their commands have been submitted when this returns.
    public mutating func withApps<Value>(at now: Instant, _ body: (inout AppLifecycle) -> Value) -> Value {
        let value = body(&apps)
        pump(at: now)
        return value
    }

    /// An input for the apps while the owner handles the outputs of a step: further events of the engine wait for their
    /// own steps.
    public mutating func withAppsWithinStep<Value>(at now: Instant, _ body: (inout AppLifecycle) -> Value) -> Value {
        let value = body(&apps)
        carryOut(at: now)
        return value
    }

    /// An input for the engine; the apps have received the resulting events when this returns.
    public mutating func withHost<Value>(at now: Instant, _ body: (inout Engine) -> Value) -> Value {
        let value = body(&host)
        pump(at: now)
        return value
    }

    /// Runs the timers of the engine and the apps that are due.
    public mutating func advance(to now: Instant) {
        if let deadline = host.nextDeadline, deadline <= now { withHost(at: now) { $0.advance(to: now) } }
        if let deadline = apps.nextDeadline, deadline <= now { withApps(at: now) { $0.advance(to: now) } }
    }

    /// When to call `advance(to:)`, unless another input comes first.
    public var nextDeadline: Instant? { earliest(host.nextDeadline, apps.nextDeadline) }

    /// Handles one event of the engine, if there is one.
    /// - Returns: whether there was.
    public mutating func step(at now: Instant) -> Bool {
        carryOut(at: now)
        guard let event = host.nextEvent() else { return false }
        enqueue(event)
        // Apps receive the loss before the events of what it ends.
        if !host.hasTransport { apps.transportClosed(at: now) }
        apps.receive(event, at: now)
        carryOut(at: now)
        return true
    }

    /// Runs both machines until neither has anything for the other.
    private mutating func pump(at now: Instant) {
        while step(at: now) {}
    }

    /// Submits the commands of the apps to the engine; other outputs wait for the owner.
    private mutating func carryOut(at now: Instant) {
        while let next = apps.nextSubmission() {
            guard let operation = host.take(next.command, from: next.client, at: now) else { continue }
            apps.submitted(next.token, as: operation)
        }
    }

    // MARK: Outputs

    /// The next output; never `submit`.
    public mutating func nextOutput() -> LifecycleOutput? { apps.nextOutput() }

    /// The engine's events for its owner: requests to reopen the transport, stop and failure, progress of pairing,
    /// changes of bonds, and completions of the owner's own commands.
    public mutating func nextHostEvent() -> HostEvent? { hostEvents.popFirst() }

    private mutating func enqueue(_ event: HostEvent) {
        switch event.audience {
        case .owner, .everyone, .pairing: hostEvents.append(event)
        case .operation(let operation): if !apps.knows(operation) { hostEvents.append(event) }
        // The apps receive these.
        default: break
        }
        let limit = 256
        if hostEvents.count > limit { _ = hostEvents.popFirst() }
    }
}

/// An engine in the same process: packets in, packets out.
extension LifecycleEngine where Engine == Host {
    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: the state from the journal.
    public init(
        configuration: HostConfiguration = HostConfiguration(), settings: LifecycleSettings = LifecycleSettings(),
        seed: [UInt8], restoring state: PreservedState = PreservedState()
    ) {
        self.init(on: Host(configuration: configuration), settings: settings, seed: seed, restoring: state)
    }

    /// The transport is open (`Host.transportOpened(at:)`).
    public mutating func transportOpened(at now: Instant) { withHost(at: now) { $0.transportOpened(at: now) } }

    /// The transport is closed (`Host.transportClosed(at:)`).
    public mutating func transportClosed(at now: Instant) {
        withHost(at: now) { $0.transportClosed(at: now) }
        withApps(at: now) { $0.transportClosed(at: now) }
    }

    /// Receives one H4 packet from the controller.
    public mutating func receive(_ packet: RawSpan, at now: Instant) {
        host.receive(packet, at: now)
        pump(at: now)
    }

    /// Submits a command of the owner, such as `stop`.
    @discardableResult
    public mutating func submit(_ command: HostCommand, at now: Instant) -> OperationID {
        withHost(at: now) { $0.submit(command, from: .local, at: now) }
    }

    /// The oldest cryptographic request that has not been fetched; call it after every input.
    public mutating func nextCryptoRequest() -> PendingCryptoRequest? { host.nextCryptoRequest() }

    /// The answer to a cryptographic request.
    public mutating func answer(_ question: UInt64, with result: CryptoResult, at now: Instant) {
        withHost(at: now) { $0.answer(question, with: result, at: now) }
    }

    /// Passes each packet for the controller to a closure, in order; the bytes are valid during the call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { host.drainPackets(send) }

    /// Whether the controller can be used.
    public var isReady: Bool { host.isReady }
    /// What the controller has reported about itself so far.
    public var controllerInformation: ControllerInformation { host.controllerInformation }
    /// Counters of errors and recoveries since the engine was created.
    public var counters: HostCounters { host.counters }
}
