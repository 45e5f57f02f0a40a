import BLEHost
import BLEPackets

/// An engine as the life of apps drives it: it takes commands and tells events. `Host` is one; so is what runs a `Host` on
/// a transport.
public protocol LifecycleHost: ~Copyable {
    /// Gives the engine a command.
    /// - Returns: `nil` where there is no engine yet: the command is dropped.
    mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID?
    /// What the engine tells next; `nil` when there is nothing now.
    mutating func nextEvent() -> HostEvent?
    /// When `advance(to:)` is to be called; `nil` where something else sees to it.
    var nextDeadline: Instant? { get }
    /// Time has passed.
    mutating func advance(to now: Instant)
}

extension Host: LifecycleHost {
    public mutating func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        submit(command, from: client, at: now)
    }
}

/// An engine and the apps on it in one machine of the shape of `Host`: what an app's process, or a daemon, drives.
///
/// One step takes one event of the engine: the apps hear of it, and what they want of the engine is done before the next
/// event is taken. All inputs end with as many steps as there are events.
///
///     engine.receive(packet, at: now)
///     engine.drainPackets { transport.send($0) }
///     while let output = engine.nextOutput() { … }
///     timer.set(engine.nextDeadline)
public struct LifecycleEngine<Engine: LifecycleHost & ~Copyable>: ~Copyable {
    private var host: Engine
    /// The apps, to be looked at; inputs go through `withApps(at:_:)`.
    public private(set) var apps: AppLifecycle
    private var outputs = OutputQueue()
    private var hostEvents = Queue<HostEvent>()

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: what the journal says.
    public init(
        on host: consuming Engine, settings: LifecycleSettings = LifecycleSettings(), seed: [UInt8],
        restoring state: PreservedState = PreservedState()
    ) {
        self.host = host
        apps = AppLifecycle(settings: settings, seed: seed, restoring: state)
    }

    // MARK: Inputs

    /// An input for the apps; what they want of the engine is done when this returns.
    public mutating func withApps<Value>(at now: Instant, _ body: (inout AppLifecycle) -> Value) -> Value {
        let value = body(&apps)
        pump(at: now)
        return value
    }

    /// An input for the apps while the owner carries out what a step led to: further events of the engine wait for their
    /// own steps.
    public mutating func withAppsWithinStep<Value>(at now: Instant, _ body: (inout AppLifecycle) -> Value) -> Value {
        let value = body(&apps)
        carryOut(at: now)
        return value
    }

    /// An input for the engine; the apps have heard what follows when this returns.
    public mutating func withHost<Value>(at now: Instant, _ body: (inout Engine) -> Value) -> Value {
        let value = body(&host)
        pump(at: now)
        return value
    }

    /// Time has passed: timers of the engine and of the apps that are due are served.
    public mutating func advance(to now: Instant) {
        if let deadline = host.nextDeadline, deadline <= now { withHost(at: now) { $0.advance(to: now) } }
        if let deadline = apps.nextDeadline, deadline <= now { withApps(at: now) { $0.advance(to: now) } }
    }

    /// The moment at which `advance(to:)` is to be called, if nothing comes before.
    public var nextDeadline: Instant? { earliest(host.nextDeadline, apps.nextDeadline) }

    /// Takes one event of the engine, where there is one.
    /// - Returns: whether there was.
    public mutating func step(at now: Instant) -> Bool {
        carryOut(at: now)
        guard let event = host.nextEvent() else { return false }
        keep(event)
        apps.receive(event, at: now)
        carryOut(at: now)
        return true
    }

    /// Lets each machine have what the other wants until neither wants anything.
    private mutating func pump(at now: Instant) {
        while step(at: now) {}
    }

    /// Gives the engine what the apps want of it; the rest waits for the owner.
    private mutating func carryOut(at now: Instant) {
        while let output = apps.nextOutput() {
            guard case .submit(let command, let client, let token) = output else {
                outputs.emit(output)
                continue
            }
            if let operation = host.take(command, from: client, at: now) { apps.submitted(token, as: operation) }
        }
    }

    // MARK: Outputs

    /// What is to be done next; never `submit`.
    public mutating func nextOutput() -> LifecycleOutput? { outputs.next() }

    /// What the engine tells its owner: that the transport is to be opened again, that it has stopped or failed, how
    /// pairing goes and which bonds change, and the ends of the owner's commands.
    public mutating func nextHostEvent() -> HostEvent? { hostEvents.popFirst() }

    private mutating func keep(_ event: HostEvent) {
        switch event {
        case .ready, .recovering, .failed, .reopenTransport, .stopped, .pairing, .bondChanged, .bondRemoved:
            hostEvents.append(event)
        case .completed(let operation, _):
            if !apps.knows(operation) { hostEvents.append(event) }
        // The apps hear of these.
        case .discovered, .advertisingChanged, .connected, .disconnected, .gatt, .centralConnected,
            .centralDisconnected, .server, .encryptionChanged, .cleartextRefused, .channel,
            .connectionParametersChanged, .phyChanged, .dataLengthChanged, .identityFound, .ambiguousIdentity,
            .malformedPacket:
            break
        }
        let limit = 256
        if hostEvents.count > limit { _ = hostEvents.popFirst() }
    }
}

/// With the engine itself: packets in, packets out.
extension LifecycleEngine where Engine == Host {
    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: what the journal says.
    public init(
        configuration: HostConfiguration = HostConfiguration(), settings: LifecycleSettings = LifecycleSettings(),
        seed: [UInt8], restoring state: PreservedState = PreservedState()
    ) {
        self.init(on: Host(configuration: configuration), settings: settings, seed: seed, restoring: state)
    }

    /// The transport can carry packets (`Host.transportOpened(at:)`).
    public mutating func transportOpened(at now: Instant) { withHost(at: now) { $0.transportOpened(at: now) } }

    /// The transport is gone (`Host.transportClosed(at:)`).
    public mutating func transportClosed(at now: Instant) {
        withHost(at: now) { $0.transportClosed(at: now) }
        withApps(at: now) { $0.transportClosed(at: now) }
    }

    /// One H4 packet of the controller.
    public mutating func receive(_ packet: RawSpan, at now: Instant) {
        host.receive(packet, at: now)
        pump(at: now)
    }

    /// A command of the owner itself: `stop`, for one.
    @discardableResult
    public mutating func submit(_ command: HostCommand, at now: Instant) -> OperationID {
        withHost(at: now) { $0.submit(command, from: .local, at: now) }
    }

    /// The oldest work of cryptography that nobody has taken; to be asked for after every input.
    public mutating func nextToolboxQuestion() -> ToolboxQuestion? { host.nextToolboxQuestion() }

    /// What came of it.
    public mutating func answer(_ question: UInt64, with result: ToolboxResult, at now: Instant) {
        withHost(at: now) { $0.answer(question, with: result, at: now) }
    }

    /// Lends each packet for the controller, in order; the bytes hold during the call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { host.drainPackets(send) }

    /// Whether the controller can be used.
    public var isReady: Bool { host.isReady }
    /// What the controller said of itself, as far as it has been asked.
    public var controllerInformation: ControllerInformation { host.controllerInformation }
    /// What the engine met and survived since it was made.
    public var counters: HostCounters { host.counters }
}
