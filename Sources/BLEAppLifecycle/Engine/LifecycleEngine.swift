import BLEHost
import BLEPackets

/// An engine and the apps on it in one machine of the shape of `Host`: what an app's process, or a daemon, drives.
///
///     engine.receive(packet, at: now)
///     engine.drainPackets { transport.send($0) }
///     while let output = engine.nextOutput() { … }
///     timer.set(engine.nextDeadline)
public struct LifecycleEngine: ~Copyable {
    private var host: Host
    private var apps: AppLifecycle
    private var outputs: [LifecycleOutput] = []
    private var taken = 0
    private var hostEvents: [HostEvent] = []

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: what the journal says.
    public init(
        configuration: HostConfiguration = HostConfiguration(), settings: LifecycleSettings = LifecycleSettings(),
        seed: [UInt8], restoring state: PreservedState = PreservedState()
    ) {
        host = Host(configuration: configuration)
        apps = AppLifecycle(settings: settings, seed: seed, restoring: state)
    }

    // MARK: Inputs

    /// The transport can carry packets (`Host.transportOpened(at:)`).
    public mutating func transportOpened(at now: Instant) {
        host.transportOpened(at: now)
        pump(at: now)
    }

    /// The transport is gone (`Host.transportClosed(at:)`).
    public mutating func transportClosed(at now: Instant) {
        host.transportClosed(at: now)
        pump(at: now)
        apps.transportClosed(at: now)
        pump(at: now)
    }

    /// One H4 packet of the controller.
    public mutating func receive(_ packet: RawSpan, at now: Instant) {
        host.receive(packet, at: now)
        pump(at: now)
    }

    /// Time has passed: timers of the engine and of the apps that are due are served.
    public mutating func advance(to now: Instant) {
        if let deadline = host.nextDeadline, deadline <= now {
            host.advance(to: now)
            pump(at: now)
        }
        if let deadline = apps.nextDeadline, deadline <= now {
            apps.advance(to: now)
            pump(at: now)
        }
    }

    /// The moment at which `advance(to:)` is to be called, if nothing comes before.
    public var nextDeadline: Instant? { earlier(host.nextDeadline, apps.nextDeadline) }

    /// An input for the apps; what they want of the engine is done when this returns.
    public mutating func withApps<Value>(at now: Instant, _ body: (inout AppLifecycle) -> Value) -> Value {
        let value = body(&apps)
        pump(at: now)
        return value
    }

    /// A command of the owner itself: `stop`, for one.
    @discardableResult
    public mutating func submit(_ command: HostCommand, at now: Instant) -> OperationID {
        let operation = host.submit(command, from: .local, at: now)
        pump(at: now)
        return operation
    }

    /// The oldest work of cryptography that nobody has taken; to be asked for after every input.
    public mutating func nextToolboxQuestion() -> ToolboxQuestion? { host.nextToolboxQuestion() }

    /// What came of it.
    public mutating func answer(_ question: UInt64, with result: ToolboxResult, at now: Instant) {
        host.answer(question, with: result, at: now)
        pump(at: now)
    }

    // MARK: Outputs

    /// Lends each packet for the controller, in order; the bytes hold during the call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { host.drainPackets(send) }

    /// What is to be done next; never `submit`.
    public mutating func nextOutput() -> LifecycleOutput? {
        guard taken < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return outputs[taken - 1]
    }

    /// What the engine tells its owner: that the transport is to be opened again, that it has stopped or failed, and the
    /// ends of the owner's commands.
    public mutating func nextHostEvent() -> HostEvent? { hostEvents.isEmpty ? nil : hostEvents.removeFirst() }

    /// Whether the controller can be used.
    public var isReady: Bool { host.isReady }
    /// What the controller said of itself, as far as it has been asked.
    public var controllerInformation: ControllerInformation { host.controllerInformation }
    /// What the engine met and survived since it was made.
    public var counters: HostCounters { host.counters }

    /// Lets each machine have what the other wants until neither wants anything.
    private mutating func pump(at now: Instant) {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while let output = apps.nextOutput() {
                isQuiet = false
                guard case .submit(let command, let client, let token) = output else {
                    outputs.append(output)
                    continue
                }
                let operation = host.submit(command, from: client, at: now)
                apps.submitted(token, as: operation)
            }
            while let event = host.nextEvent() {
                isQuiet = false
                keep(event)
                apps.receive(event, at: now)
            }
        }
    }

    private mutating func keep(_ event: HostEvent) {
        switch event {
        case .ready, .recovering, .failed, .reopenTransport, .stopped: hostEvents.append(event)
        case .completed(let operation, _) where !apps.knows(operation): hostEvents.append(event)
        default: break
        }
        let limit = 256
        if hostEvents.count > limit { hostEvents.removeFirst() }
    }
}
