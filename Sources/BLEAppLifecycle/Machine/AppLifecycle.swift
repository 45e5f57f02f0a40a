import BLEHost
import BLEPackets

/// The life cycle of apps on one engine: which apps run, which events they receive and when, and what continues for
/// apps that do not run (SPEC 1.5 to 1.9, 5).
///
/// A value machine like `Host`: everything that it cannot compute is an input, in order: processes, requests of
/// managers, events of the engine, time, entropy. After each input, the owner fetches the outputs with `nextOutput`.
/// The same inputs give the same outputs, in every process.
///
///     request ──▶ manager ──▶ command ──▶ engine ──event──▶ manager ──▶ delivered │ queued, app woken │ app relaunched
///
/// This type only routes. `AppRuntime` has the processes (`AppTable`) and the managers (`ManagerTable`), and delivers
/// events; `Peers` has the devices around and the links to them. `CentralManager` and `PeripheralManager` are the
/// machines of managers. None of them accesses another: the inputs of such a machine are arguments
/// (`ManagerPermissions` says what it may do), its outputs are effects.
///
/// Each manager is a client of the engine. Its permissions (foreground, background, preserved) determine what the
/// engine's arbiter scans and advertises for it; only the arbiter decides that.
public struct AppLifecycle: ~Copyable {
    var runtime: AppRuntime
    var peers: Peers

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start, for creating identifiers.
    ///   - state: the state from the journal of an earlier process: its managers continue as soon as the controller is
    ///     ready.
    public init(
        settings: LifecycleSettings = LifecycleSettings(), seed: [UInt8], restoring state: PreservedState = .init()
    ) {
        runtime = AppRuntime(settings)
        peers = Peers(limit: settings.rememberedDevices, seed: seed)
        peers.restore(state, &runtime)
    }

    /// A change counts for what comes later.
    public var settings: LifecycleSettings {
        get { runtime.settings }
        set { runtime.settings = newValue }
    }

    /// The next output; call it after every input until it is `nil`.
    public mutating func nextOutput() -> LifecycleOutput? {
        nextSubmission().map { .submit($0.command, from: $0.client, $0.token) } ?? runtime.effects.nextOutput()
    }

    /// The next command for the engine, which `nextOutput` then does not return.
    mutating func nextSubmission() -> ManagerEffects.Submission? { runtime.effects.nextSubmission() }

    // MARK: The engine

    /// The engine has accepted a command. Call it at once, before any event of the command.
    public mutating func submitted(_ token: CommandToken, as operation: OperationID) {
        guard let (purpose, isCancelled) = runtime.effects.commands.name(token, operation) else { return }
        if isCancelled { runtime.submit(.cancel(operation), from: .system) }
        // Changes since the command was submitted could not be passed to the engine before.
        if case .scan(let client) = purpose {
            runtime.withCentral(client) { manager, permissions, effects in
                manager.scanSubmitted(token, as: operation)
                manager.convergeScan(permissions, into: &effects)
            }
        }
        if case .advertise(let client) = purpose {
            runtime.withPeripheral(client) { $0.convergeAdvertising($1, into: &$2) }
        }
    }

    /// Whether an operation belongs to a manager or the system.
    func knows(_ operation: OperationID) -> Bool { runtime.effects.commands.knows(operation) }

    /// An event of the engine; events for apps follow as outputs.
    public mutating func receive(_ event: HostEvent, at now: Instant) {
        runtime.effects.now = now
        switch event {
        case .ready: runtime.controllerChanged(to: .ready, &peers.directory)
        case .recovering: runtime.controllerChanged(to: .resetting, &peers.directory)
        case .failed: runtime.controllerChanged(to: .failed, &peers.directory)
        case .stopped: runtime.controllerChanged(to: .starting, &peers.directory)
        case .discovered(let discovery):
            peers.discovered(discovery, &runtime)
            peers.directory.planWriting(into: &runtime.effects)
            return runtime.carryOut(&peers.directory)
        case .advertisingChanged(let isAdvertising):
            runtime.bluetooth.isAdvertising = isAdvertising
            if isAdvertising { runtime.forEachPeripheral { $0.advertisingStarted(into: &$2) } }
        case .completed(let operation, let result): peers.completed(operation, result, &runtime)
        case .connected(let information, let client): peers.connected(information, client, &runtime)
        case .disconnected(let link, let client, let reason): peers.disconnected(link, client, reason, &runtime)
        case .gatt(let link, let event): peers.received(event, on: link, &runtime)
        case .centralConnected(let information): peers.record(information, &runtime)
        case .centralDisconnected(let link, _): peers.centralGone(link, &runtime)
        case .server(let event): peers.served(event, &runtime)
        case .channel(let event): peers.received(event, &runtime)
        case .identityFound(let identity, let address): peers.identityFound(identity, behind: address, &runtime)
        case .pairing(let link, .failed(.keyMissingAtPeer)): peers.lostKeys(link, &runtime)
        case .bondChanged(let bond): peers.directory.bondChanged(bond.identity)
        case .bondRemoved(let identity): peers.directory.bondRemoved(identity)
        // Nothing that apps can ask for leads to the others; the engine and the system handle pairing.
        default: break
        }
        peers.directory.planWriting(into: &runtime.effects)
        finish()
    }

    /// The transport is closed and may be opened again.
    public mutating func transportClosed(at now: Instant) {
        runtime.effects.now = now
        guard runtime.bluetooth.controller == .ready else { return }
        runtime.controllerChanged(to: .resetting, &peers.directory)
        finish()
    }

    /// The transport could not be opened, or is closed for good: there is no Bluetooth.
    public mutating func transportFailed(at now: Instant) {
        runtime.effects.now = now
        runtime.controllerChanged(to: .failed, &peers.directory)
        finish()
    }

    /// Learns the bonds of the engine: apps keep their identifiers of these devices.
    public mutating func restored(_ bonds: [Bond]) {
        for bond in bonds { peers.directory.bondChanged(bond.identity) }
    }

    /// Bluetooth was turned off or on. While it is off, the owner may release the controller; it is on when the
    /// controller can be used again.
    /// - Parameter byUser: whether the user has switched it, as in the settings: then events launch no app that did not
    ///   run at that time. After an interruption, such as airplane mode, they do (SPEC SPR-30).
    public mutating func setPower(_ isOn: Bool, byUser: Bool = true, at now: Instant) {
        runtime.effects.now = now
        guard runtime.setPower(isOn, byUser: byUser) else { return }
        if !isOn { peers.disconnectCentrals(&runtime) }
        runtime.stateChanged(&peers.directory)
        finish()
    }

    /// Changes whether apps send the overflow area, also of advertisements that are on the air.
    public mutating func setOverflow(_ setting: OverflowSetting, at now: Instant) {
        guard settings.overflow != setting else { return }
        runtime.effects.now = now
        settings.overflow = setting
        for app in runtime.apps.indices { runtime.convergeAll(of: app) }
        finish()
    }

    // MARK: Links

    /// The peer of a link and the app's description of it, for pairing questions.
    public mutating func peer(of link: LinkID, for app: AppID) -> (DeviceAddress, PeripheralDescription)? {
        peers.peer(of: link, for: app, &runtime)
    }

    /// The apps that use a link: those that are connected through it, or, if a central established it, those that
    /// publish services. In the order in which they were declared or launched.
    public func apps(on link: LinkID) -> [AppID] { peers.apps(on: link, runtime) }

    // MARK: Time

    /// When to call `advance`.
    public var nextDeadline: Instant? { earliest(peers.directory.writingDeadline, runtime.nextDeadline) }

    /// Runs the timers that are due.
    public mutating func advance(to now: Instant) {
        runtime.effects.now = now
        runtime.advance(&peers.directory)
        finish()
    }

    /// Ends each input.
    mutating func finish() { runtime.finish(&peers.directory) }
}
