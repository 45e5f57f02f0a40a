import BLEHost
import BLEPackets

/// The processes of apps and their managers: what runs, what each manager may do, and what its app receives.
///
/// It calls the machines of the managers, carries out their effects, and adapts what they have the engine do to their
/// permissions (foreground, background, preserved). The devices around are in `Peers`.
struct AppRuntime {
    var settings: LifecycleSettings
    var bluetooth = BluetoothState()
    var apps = AppTable()
    var managers = ManagerTable()
    var alerts = AlertList()
    var effects = ManagerEffects()
    /// The time of the current input.
    var now: Instant { effects.now }
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
        _ client: ClientID, _ body: (inout CentralManager, ManagerPermissions, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let permissions = permissions(of: client), case .central(let machine)? = managers.role(of: client)
        else { return nil }
        defer { settle() }
        return body(&machine.state, permissions, &effects)
    }

    /// Calls the machine of a peripheral manager; does nothing if there is none.
    @discardableResult
    mutating func withPeripheral<Value>(
        _ client: ClientID, _ body: (inout PeripheralManager, ManagerPermissions, inout ManagerEffects) -> Value
    ) -> Value? {
        guard let permissions = permissions(of: client), case .peripheral(let machine)? = managers.role(of: client)
        else { return nil }
        defer { settle() }
        return body(&machine.state, permissions, &effects)
    }

    /// Calls the channels of a manager.
    mutating func withChannels(_ client: ClientID, _ body: (inout ChannelTable, inout ManagerEffects) -> Void) {
        managers[client]?.withChannels(&effects, body)
        settle()
    }

    mutating func forEachPeripheral(_ body: (inout PeripheralManager, ManagerPermissions, inout ManagerEffects) -> Void)
    {
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

    /// Adapts the engine's work for a manager to its current permissions.
    mutating func converge(_ client: ClientID) {
        guard let permissions = permissions(of: client) else { return }
        managers[client]?.converge(permissions, into: &effects)
        settle()
    }

    mutating func convergeAll(of app: Int) {
        for client in managers.keys where managers[client]?.app == app { converge(client) }
    }

    /// Carries out the effects of the machines.
    mutating func settle() {
        while let effect = effects.next() {
            switch effect {
            case .deliver(let event, let client): deliver(event, to: client)
            case .log(let message, let app): effects.emit(.log(message, app))
            }
        }
    }

    /// Ends each input.
    mutating func finish(_ directory: inout PeerDirectory) {
        while let alert = effects.nextAlert() { raise(alert.kind, at: alert.address, &directory) }
        endWakes(&directory)
        for place in managers.keys.indices {
            var mayHold = false
            managers.change(at: place) { mayHold = $0.mayHoldIndications }
            if mayHold { withholdConfirmations(of: managers.keys[place]) }
        }
        carryOut(&directory)
    }

    mutating func carryOut(_ directory: inout PeerDirectory) {
        settle()
        writeJournal(&directory)
    }

    mutating func withholdConfirmations(of client: ClientID) {
        let mayHold = managers.withValue(of: client) { $0.mayHoldIndications ? $0.app : nil }
        guard case let app?? = mayHold else { return }
        managers[client]?.withholdConfirmations(isHeard: apps[app].receives(.central), settings, into: &effects)
    }

    // MARK: Delivery

    /// Delivers an event: at once, by waking the app, later, or by launching it (SPEC FGO-4, FGO-5, BGC-2, BGP-1,
    /// SPR-5).
    /// - Parameter wakes: whether the app may be woken for the event.
    mutating func deliver(_ event: ClientEvent, to client: ClientID, wakes: Bool = true) {
        let found = managers.withValue(of: client) { manager in
            (manager.app, manager.id, manager.kind, manager.hasRoom, manager.queue.isEmpty)
        }
        guard let (app, id, kind, hasRoom, isNext) = found else { return }
        guard let id else {
            guard !event.isAnswer, event.wakesApp else { return }
            enqueue(event, for: client, app)
            if apps[app].state == .notRunning { relaunch(app) }
            return
        }
        let hears = apps[app].receives(kind)
        if event.isAnswer { return effects.emit(.event(event, to: id, of: apps[app].id)) }
        if hears, hasRoom, isNext { return hand(event, to: id, client, app) }
        enqueue(event, for: client, app)
        if hears {
            // Without room, nothing can go before it either.
            if hasRoom { flush(app) }
        } else if wakes, apps[app].hasMode(kind), event.wakesApp {
            wake(app)
        }
    }

    private mutating func enqueue(_ event: ClientEvent, for client: ClientID, _ app: Int) {
        let sequence = nextSequence()
        let endsRequest = endsRequest
        managers.change(client) { $0.queue.append(event, sequence: sequence, endsRequest: endsRequest) }
        trimQueues(app)
    }

    /// Drops what waits for the managers of an app, or of other apps of its user, beyond what may wait for them
    /// together (SPEC 5.5 rule 2). The longest queue loses, so that no app of a user takes the room of another.
    private mutating func trimQueues(_ app: Int) {
        while true {
            let (own, all) = managers.waitingOctets(for: app, apps)
            let isOver = own > settings.queuedOctetLimit
            guard isOver || all > settings.queuedOctetLimitOfUser else { return }
            let longest = isOver ? app : managers.longestWaiting(of: apps[app].manifest.user, apps)
            guard managers.dropOne(of: longest) else { return }
        }
    }

    /// Whether so much waits for a manager that what peers can do without is refused, and counted as lost. The rest of
    /// the room is for other events.
    mutating func isCrowded(_ manager: Manager) -> Bool {
        if manager.isCrowded(settings) { return true }
        let (own, all) = managers.waitingOctets(for: manager.app, apps)
        return own >= settings.queuedOctetLimit / 2 || own > 0 && all >= settings.queuedOctetLimitOfUser / 2
    }

    /// Delivers the waiting events of all managers of an app, in their order.
    mutating func flush(_ app: Int) {
        let (hearsCentral, hearsPeripheral) = (apps[app].receives(.central), apps[app].receives(.peripheral))
        while true {
            var next: (client: ClientID, id: ManagerID, sequence: UInt64)?
            managers.forEachInPlace { client, manager in
                guard manager.app == app, manager.hasRoom,
                    manager.kind == .central ? hearsCentral : hearsPeripheral, let id = manager.id,
                    let sequence = manager.queue.nextSequence
                else { return }
                if next.map({ sequence < $0.sequence }) ?? true { next = (client, id, sequence) }
            }
            guard let next, let event = managers[next.client]?.queue.popFirst() else { return }
            hand(event, to: next.id, next.client, app)
        }
    }

    private mutating func hand(_ event: ClientEvent, to id: ManagerID, _ client: ClientID, _ app: Int) {
        managers.change(client) { $0.countDelivered(event) }
        apps[app].took(at: now, settings)
        if case .eventsLost(let count) = event { log(.eventsLost(count: count), app) }
        effects.emit(.event(event, to: id, of: apps[app].id))
    }
}
