import BLEHost
import BLEPackets

/// The processes of apps and their managers: what runs, what each manager may do, and what its app receives.
///
/// It calls the machines of the managers, carries out their effects, and adapts what they have the engine do to their
/// standing (foreground, background, preserved). The devices around are in `Peers`.
struct AppRuntime {
    var settings: LifecycleSettings
    var bluetooth = BluetoothState()
    var apps = AppTable()
    var managers = ManagerTable()
    var alerts = AlertList()
    var effects = ManagerEffects()
    /// The time of the current input.
    var now = Instant.zero
    /// Whether what managers receive now ends requests of theirs.
    var endsRequest = false
    private var lastClient: UInt32 = 0
    private var lastSequence: UInt64 = 0

    init(_ settings: LifecycleSettings) { self.settings = settings }

    /// Whether a client of the engine belongs to no app: the owner lets others use the engine, too.
    func isForeign(_ client: ClientID) -> Bool { client.rawValue > lastClient && client != .system }

    mutating func nextSequence() -> UInt64 {
        lastSequence += 1
        return lastSequence
    }

    mutating func log(_ message: LogMessage, _ app: Int) { effects.emit(.log(message, apps[app].id)) }

    // MARK: The machines of managers

    mutating func add(_ kind: ManagerRole, _ app: Int, _ identifier: String?) -> ClientID {
        lastClient += 1
        let client = ClientID(rawValue: lastClient)
        managers[client] = Manager(
            kind, client: client, app: app, named: apps[app].id, restoreIdentifier: identifier,
            hiding: hiddenServices(for: app), settings: settings)
        return client
    }

    /// The services of peripherals that an app does not see.
    func hiddenServices(for app: Int) -> [BluetoothUUID] {
        apps[app].manifest.showsSystemServices ? [] : settings.hiddenServices
    }

    /// Calls the machine of a central manager; does nothing if there is none.
    @discardableResult
    mutating func withCentral<Value>(
        _ client: ClientID, _ body: (inout CentralManager, Standing, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let standing = standing(of: client) else { return nil }
        defer { settle() }
        return managers[client]?.withCentral(standing, &effects, body)
    }

    /// Calls the machine of a peripheral manager; does nothing if there is none.
    @discardableResult
    mutating func withPeripheral<Value>(
        _ client: ClientID, _ body: (inout PeripheralManager, Standing, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let standing = standing(of: client) else { return nil }
        defer { settle() }
        return managers[client]?.withPeripheral(standing, &effects, body)
    }

    /// Calls the channels of a manager.
    mutating func withChannels(_ client: ClientID, _ body: (inout ChannelTable, inout ManagerEffects) -> Void) {
        managers[client]?.withChannels(&effects, body)
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

    /// Submits a command for a client.
    mutating func submit(_ command: HostCommand, from client: ClientID) { effects.submit(command, from: client) }

    /// Adapts the engine's work for a manager to its current standing.
    mutating func converge(_ client: ClientID) {
        guard let standing = standing(of: client) else { return }
        managers[client]?.converge(standing, at: now, into: &effects)
        settle()
    }

    mutating func convergeAll(of app: Int) {
        for client in managers.keys where managers[client]?.app == app { converge(client) }
    }

    /// Carries out the effects of the machines.
    mutating func settle() {
        while let effect = effects.next() {
            switch effect {
            case .tell(let event, let client): deliver(event, to: client)
            case .log(let message, let app): effects.emit(.log(message, app))
            }
        }
    }

    /// Ends each input.
    mutating func finish(_ directory: inout PeerDirectory) {
        while let alert = effects.nextAlert() { raise(alert.kind, at: alert.address, directory) }
        endWakes(&directory)
        for place in managers.keys.indices {
            var mayHold = false
            managers.change(at: place) { mayHold = $0.mayHoldIndications }
            if mayHold { holdIndications(of: managers.keys[place]) }
        }
        carryOut(directory)
    }

    mutating func carryOut(_ directory: PeerDirectory) {
        settle()
        if effects.needsJournal { writeJournal(directory) }
    }

    mutating func holdIndications(of client: ClientID) {
        let mayHold = managers.withValue(of: client) { $0.mayHoldIndications ? $0.app : nil }
        guard case let app?? = mayHold else { return }
        managers[client]?.holdIndications(isHeard: apps[app].hears(.central), settings, into: &effects)
    }

    // MARK: State

    func state(_ app: Int) -> ManagerState {
        bluetooth.state(isAllowed: apps[app].manifest.authorization == .allowedAlways)
    }

    /// What a manager may do now.
    func standing(of client: ClientID) -> Standing? {
        managers.withValue(of: client) { manager in
            let app = manager.app
            let place: Standing.Place =
                manager.id == nil
                ? .preserved
                : apps[app].isInForeground ? .foreground : .background(hasMode: apps[app].hasMode(manager.kind))
            let overflow = OverflowSetting.emission(
                system: settings.overflow, manifest: apps[app].manifest.overflow, app: manager.options.overflow ?? .on)
            return Standing(
                state: state(app), place: place, isAdvertising: bluetooth.isAdvertising, overflow: overflow)
        }
    }

    mutating func tellState(_ client: ClientID) {
        guard let manager = managers[client], manager.id != nil else { return }
        let state = state(manager.app)
        // The first state that is reported is never unknown.
        guard state != manager.toldState, state != .unknown || manager.toldState != nil else { return }
        managers[client]?.toldState = state
        deliver(.stateChanged(state, apps[manager.app].manifest.authorization), to: client)
    }

    mutating func controllerChanged(to state: BluetoothState.ControllerState, _ directory: PeerDirectory) {
        bluetooth.controller = state
        stateChanged(directory)
    }

    /// The state of the controller or of the Bluetooth switch, or what an app may do, has changed.
    mutating func stateChanged(_ directory: PeerDirectory) {
        for client in managers.keys {
            guard let app = managers[client]?.app else { continue }
            let state = state(app)
            var lost: [CentralManager.LostLink] = []
            if state != .unknown, state < .poweredOn {
                if state == .resetting { alertOfLinks(client, directory) }
                let isByUser = state == .unauthorized || state == .poweredOff && apps[app].onlyUserMayLaunch
                lost = managers[client]?.fall(to: state, isByUser: isByUser, into: &effects) ?? []
            }
            settle()
            converge(client)
            tellState(client)
            for link in lost { tell(link, to: client) }
        }
        effects.needsJournal = true
    }

    /// The links of a manager end with a reset.
    private mutating func alertOfLinks(_ client: ClientID, _ directory: PeerDirectory) {
        guard let manager = managers[client], manager.id != nil, let central = manager.central else { return }
        for session in central.peripherals where session.link != nil {
            raise(.disconnection, at: session.address, directory)
        }
    }

    /// A reset has ended a link: the app is told once it knows of the reset (SPEC 2.3
    /// didDisconnectPeripheral).
    private mutating func tell(_ lost: CentralManager.LostLink, to client: ClientID) {
        deliver(
            .disconnected(
                lost.peripheral, DisconnectionReason.controllerLost.clientError, microseconds: now.microseconds,
                isReconnecting: lost.isReconnecting), to: client)
    }

    /// Bluetooth was turned off or on.
    /// - Returns: whether its state has changed.
    mutating func setPower(_ isOn: Bool, byUser: Bool) -> Bool {
        if byUser, !isOn || !bluetooth.isPowered { for index in apps.indices { apps[index].powerSwitched() } }
        guard isOn != bluetooth.isPowered else { return false }
        bluetooth.isPowered = isOn
        return true
    }
}
