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
/// This type only routes. `CentralManager` and `PeripheralManager` have the state of managers; `App` has the state of
/// an app's process; `SharedLinks`, `PeerDirectory` and `AlertList` have what apps share. None of them accesses
/// another: the inputs of such a machine are arguments (`Standing` says what it may do), its outputs are effects, which
/// `settle` carries out.
///
/// Each manager is a client of the engine. Its standing (foreground, background, preserved) determines what the
/// engine's arbiter scans and advertises for it; only the arbiter decides that.
public struct AppLifecycle: ~Copyable {
    /// Whether the controller can be used.
    enum ControllerState: Equatable { case starting, resetting, failed, ready }

    /// A change counts for what comes later.
    public var settings: LifecycleSettings
    var controller = ControllerState.starting
    var isPowered = true
    var isAdvertising = false
    /// The index identifies an app while it is known. The place of one that is forgotten goes to another app, so that no
    /// index changes.
    var apps: [App] = []
    /// The places in `apps` that the next apps get, in this order (`release`). Until then they are as they were.
    var freePlaces: [Int] = []
    /// In the order in which they were created.
    var managers = OrderedTable<ClientID, Manager>()
    var links = SharedLinks()
    var directory: PeerDirectory
    var alerts = AlertList()
    var effects = ManagerEffects()
    var latestReport = LatestReport()
    /// Whether what managers are told now ends requests of theirs.
    var endsRequest = false
    /// The time of the current input.
    var now = Instant.zero
    private var lastClient: UInt32 = 0
    private var lastForeground: UInt64 = 0
    private var lastSequence: UInt64 = 0

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start, for creating identifiers.
    ///   - state: the state from the journal of an earlier process: its managers continue as soon as the controller is
    ///     ready.
    public init(
        settings: LifecycleSettings = LifecycleSettings(), seed: [UInt8], restoring state: PreservedState = .init()
    ) {
        self.settings = settings
        directory = PeerDirectory(limit: settings.rememberedDevices, seed: seed)
        restore(state)
    }

    /// The next output; call it after every input until it is `nil`.
    public mutating func nextOutput() -> LifecycleOutput? {
        nextSubmission().map { .submit($0.command, from: $0.client, $0.token) } ?? effects.nextOutput()
    }

    /// The next command for the engine, which `nextOutput` then does not return.
    mutating func nextSubmission() -> ManagerEffects.Submission? { effects.nextSubmission() }

    // MARK: The engine

    /// The engine has accepted a command. Call it at once, before any event of the command.
    public mutating func submitted(_ token: CommandToken, as operation: OperationID) {
        guard let (purpose, isCancelled) = effects.commands.name(token, operation) else { return }
        if isCancelled { effects.submit(.cancel(operation), from: .system) }
        settle()
        // Changes since the command was submitted could not be passed to the engine before.
        if case .scan(let client) = purpose {
            withCentral(client) { manager, standing, effects in
                manager.scanSubmitted(token, as: operation)
                manager.convergeScan(standing, into: &effects)
            }
        }
        if case .advertise(let client) = purpose { withPeripheral(client) { $0.convergeAdvertising($1, into: &$2) } }
    }

    /// Whether an operation belongs to a manager or the system.
    func knows(_ operation: OperationID) -> Bool { effects.commands.knows(operation) }

    /// An event of the engine; events for apps follow as outputs.
    public mutating func receive(_ event: HostEvent, at now: Instant) {
        self.now = now
        switch event {
        case .ready: controllerChanged(to: .ready)
        case .recovering: controllerChanged(to: .resetting)
        case .failed: controllerChanged(to: .failed)
        case .stopped: controllerChanged(to: .starting)
        case .reopenTransport, .connectionParametersChanged, .phyChanged, .dataLengthChanged, .malformedPacket,
            .advertisingSet, .advertisingRoom, .train, .subrateChanged, .linkReport:
            break
        case .discovered(let discovery):
            discovered(discovery)
            directory.planWriting(at: now, into: &effects)
            return carryOutEffects()
        case .advertisingChanged(let isAdvertising):
            self.isAdvertising = isAdvertising
            if isAdvertising { forEachPeripheral { $0.advertisingStarted(into: &$2) } }
        case .completed(let operation, let result): completed(operation, result)
        case .connected(let information, let client): connected(information, client)
        case .disconnected(let link, let client, let reason): disconnected(link, client, reason)
        case .gatt(let link, .notification(let notification)): notified(notification, on: link)
        case .gatt(let link, .mtuChanged(let mtu)): mtuChanged(Int(mtu), on: link)
        case .gatt(let link, .writeCommandsFull):
            forEachSession(on: link) { $0.setTakesWriteCommands(false, into: &$1) }
        case .gatt(let link, .writeCommandsReady):
            forEachSession(on: link) { $0.setTakesWriteCommands(true, into: &$1) }
        case .gatt: break
        case .centralConnected(let information): note(information)
        case .centralDisconnected(let link, _):
            forEachPeripheral { manager, _, _ in manager.centralGone(link) }
            effects.needsJournal = true
            forget(link)
        case .server(let event): served(event)
        case .channel(let event): received(event)
        case .identityFound(let identity, let address): identityFound(identity, behind: address)
        case .pairing(let link, .failed(.keyMissingAtPeer)): peerLostKeys(link)
        // The engine and the system handle pairing, not the apps.
        case .pairing, .encryptionChanged, .ambiguousIdentity, .cleartextRefused: break
        case .bondChanged(let bond): directory.bondChanged(bond.identity)
        case .bondRemoved(let identity): directory.bondRemoved(identity)
        }
        directory.planWriting(at: now, into: &effects)
        finish()
    }

    private mutating func completed(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard let (token, purpose) = effects.commands.take(operation) else { return }
        switch purpose {
        case .scan(let client):
            if case .failure = result { withCentral(client) { manager, _, _ in manager.scanEnded(token) } }
        case .advertise(let client):
            var failure: HostFailure?
            if case .failure(let error) = result { failure = error }
            withPeripheral(client) { $0.advertisingEnded(token, failure, into: &$2) }
        case .connect(let client, let peer): HostAnswer.link.pass(result) { connectEnded(token, client, peer, $0) }
        case .peripheral(let client, let peer, let task):
            endsRequest = true
            withCentral(client) { $0.ended(task, of: peer, result, into: &$2) }
            endsRequest = false
            if case .failure(.gatt(.att(.databaseOutOfSync, _))) = result { refusedOutOfSync(client, peer) }
        case .publish(let client, let service): HostAnswer.published.pass(result) { published(service, client, $0) }
        case .update(let client, let query):
            HostAnswer.accepted.pass(result) { isAccepted in
                withPeripheral(client) { $0.updated(query, isAccepted, into: &$2) }
            }
        case .respond(let client):
            guard result == .success(.accepted(false)), let app = managers[client]?.app else { break }
            log(.requestAlreadyAnswered, app)
        case .listen(let client): HostAnswer.listening.pass(result) { listening($0, client) }
        case .send(let client, let channel, let count):
            if case .success = result { withChannels(client) { $0.sent(count, on: channel, into: &$1) } }
        case .learn(let link, let step):
            if case .success(let result) = result {
                HostAnswer.gatt.pass(result) { learned(step, $0, on: link) }
            }
        case .none: break
        }
    }

    /// The transport is closed and may be opened again.
    public mutating func transportClosed(at now: Instant) {
        self.now = now
        guard controller == .ready else { return }
        controllerChanged(to: .resetting)
        finish()
    }

    /// The transport could not be opened, or is closed for good: there is no Bluetooth.
    public mutating func transportFailed(at now: Instant) {
        self.now = now
        controllerChanged(to: .failed)
        finish()
    }

    // MARK: Time

    /// When to call `advance`.
    public var nextDeadline: Instant? {
        var deadline = directory.writingDeadline
        for app in apps { deadline = earliest(deadline, app.deadline(settings)) }
        for place in managers.keys.indices {
            deadline = earliest(deadline, managers.withValue(at: place) { $0.central?.nextDeadline } ?? nil)
        }
        return deadline
    }

    /// Runs the timers that are due.
    public mutating func advance(to now: Instant) {
        self.now = now
        advanceApps()
        directory.planWriting(at: now, into: &effects)
        for client in managers.keys {
            guard let due = managers[client]?.central?.nextDeadline, due <= now else { continue }
            converge(client)
        }
        finish()
    }

    // MARK: Carrying out

    /// Calls the machine of a central manager; does nothing if there is none.
    @discardableResult
    mutating func withCentral<Value>(
        _ client: ClientID, _ body: (inout CentralManager, Standing, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let standing = standing(of: client) else { return nil }
        defer { settle() }
        return managers[client]?.central?.act(standing, &effects, body)
    }

    /// Calls the machine of a peripheral manager; does nothing if there is none.
    @discardableResult
    mutating func withPeripheral<Value>(
        _ client: ClientID, _ body: (inout PeripheralManager, Standing, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let standing = standing(of: client) else { return nil }
        defer { settle() }
        return managers[client]?.peripheral?.act(standing, &effects, body)
    }

    /// Calls the channels of a manager.
    mutating func withChannels(_ client: ClientID, _ body: (inout ChannelTable, inout ManagerEffects) -> Void) {
        managers[client]?.changeChannels(&effects, body)
        settle()
    }

    mutating func forEachPeripheral(_ body: (inout PeripheralManager, Standing, inout ManagerEffects) -> Void) {
        for client in managers.keys { withPeripheral(client, body) }
    }

    mutating func forEachSession(on link: LinkID, _ body: (inout PeripheralSession, inout ManagerEffects) -> Void) {
        for client in managers.keys {
            withCentral(client) { manager, _, effects in
                manager.forEachSession(on: link) { body(&$0, &effects) }
            }
        }
    }

    /// Adapts the engine's work for a manager to its current standing.
    mutating func converge(_ client: ClientID) {
        guard let standing = standing(of: client) else { return }
        managers[client]?.converge(standing, at: now, into: &effects)
        settle()
    }

    /// Carries out the effects of the machines.
    mutating func settle() {
        while let effect = effects.next() {
            switch effect {
            case .tell(let event, let client): deliver(event, to: client)
            case .log(let message, let app): emit(.log(message, app))
            case .alert(let kind, let address): raiseAlert(kind, address)
            case .found(let services, let link): noteServices(services, on: link)
            }
        }
    }

    /// Ends each input.
    mutating func finish() {
        endWakes()
        for place in managers.keys.indices {
            var mayHold = false
            managers.change(at: place) { mayHold = $0.mayHoldIndications }
            if mayHold { holdIndications(of: managers.keys[place]) }
        }
        carryOutEffects()
    }

    mutating func holdIndications(of client: ClientID) {
        let mayHold = managers.withValue(of: client) { $0.mayHoldIndications ? $0.app : nil }
        guard case let app?? = mayHold else { return }
        managers[client]?.holdIndications(isHeard: apps[app].hears(.central), settings, into: &effects)
    }

    private mutating func carryOutEffects() {
        settle()
        if effects.needsJournal { writeJournal() }
    }

    mutating func emit(_ output: LifecycleOutput) { effects.emit(output) }
    mutating func log(_ message: LogMessage, _ app: Int) { emit(.log(message, apps[app].id)) }

    // MARK: Finding

    func app(_ id: AppID) -> Int? { apps.firstIndex { $0.id == id } }

    func client(of manager: ManagerID, _ app: Int) -> ClientID? {
        let place = managers.keys.indices.first { place in
            managers.withValue(at: place) { $0.id == manager && $0.app == app } ?? false
        }
        return place.map { managers.keys[$0] }
    }

    /// Whether a client of the engine belongs to no app: the owner lets others use the engine, too.
    func isForeign(_ client: ClientID) -> Bool { client.rawValue > lastClient && client != .system }

    mutating func nextClient() -> ClientID {
        lastClient += 1
        return ClientID(rawValue: lastClient)
    }

    mutating func nextForeground() -> UInt64 {
        lastForeground += 1
        return lastForeground
    }

    mutating func nextSequence() -> UInt64 {
        lastSequence += 1
        return lastSequence
    }
}

extension CentralManager {
    fileprivate mutating func act<Value>(
        _ standing: Standing, _ effects: inout ManagerEffects,
        _ body: (inout Self, Standing, inout ManagerEffects) -> Value
    ) -> Value { body(&self, standing, &effects) }
}

extension PeripheralManager {
    fileprivate mutating func act<Value>(
        _ standing: Standing, _ effects: inout ManagerEffects,
        _ body: (inout Self, Standing, inout ManagerEffects) -> Value
    ) -> Value { body(&self, standing, &effects) }
}
