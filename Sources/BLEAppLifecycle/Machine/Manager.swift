import BLEHost
import BLEPackets

/// One manager of an app, or what the system keeps of one whose app does not run: the machine that knows what it asked
/// for, and what connects that with its process.
///
///     made ──▶ held by a process ──process ends, something to keep──▶ preserved ──made again──▶ held by a process
///                    └──released, process ends, nothing to keep──▶ removed ◀──force quit──┘
struct Manager {
    private struct Room {
        var events: Int
        var octets: Int
    }

    /// By which the engine knows it.
    let client: ClientID
    /// Index of its app.
    let app: Int
    /// `nil` while no process holds it.
    var id: ManagerID?
    /// `nil` for one that is not preserved.
    let restoreIdentifier: String?
    var options = ManagerOptions()
    /// What the app knows, or will know when its events reach it.
    var toldState: ManagerState?
    var queue: ClientEventQueue
    /// How many events, and octets of them, its app may still be told before it has handled others.
    private var room: Room
    private let wholeRoom: Room
    /// Whether indications for it are left unconfirmed.
    private var holdsIndications = false
    /// What it was at when its app ended.
    var snapshot: PreservedManager?
    /// What the journal says of it.
    var journaled: PreservedManager?
    /// One of the two is there, as `role` says.
    var central: CentralManager?
    var peripheral: PeripheralManager?

    init(
        _ role: ManagerRole, client: ClientID, app: Int, named appID: AppID, restoreIdentifier: String?,
        settings: LifecycleSettings
    ) {
        self.client = client
        self.app = app
        self.restoreIdentifier = restoreIdentifier
        queue = ClientEventQueue(eventLimit: settings.queuedEventLimit, octetLimit: settings.queuedOctetLimit)
        wholeRoom = Room(events: settings.unhandledEventLimit, octets: settings.unhandledOctetLimit)
        room = wholeRoom
        switch role {
        case .central:
            central = CentralManager(client: client, app: appID, hiddenServices: settings.hiddenServices)
        case .peripheral:
            peripheral = PeripheralManager(
                client: client, app: appID, disabledServiceError: settings.disabledServiceError)
        }
    }

    var role: ManagerRole { central == nil ? .peripheral : .central }
    var channels: ChannelTable? { central?.channels ?? peripheral?.channels }

    mutating func changeChannels(
        _ effects: inout ManagerEffects, _ body: (inout ChannelTable, inout ManagerEffects) -> Void
    ) {
        if central != nil { central?.change(&effects, body) } else { peripheral?.change(&effects, body) }
    }

    mutating func converge(_ standing: Standing, at now: Instant, into effects: inout ManagerEffects) {
        central?.converge(standing, at: now, into: &effects)
        peripheral?.converge(standing, into: &effects)
    }

    /// Whether it waits for its app under this identifier.
    func isKept(_ app: Int, _ role: ManagerRole, _ identifier: String) -> Bool {
        self.app == app && self.role == role && restoreIdentifier == identifier && id == nil
    }

    // MARK: Apps that are slower than their peers

    /// Whether its app may be told something now.
    var hasRoom: Bool { room.events > 0 && room.octets > 0 }

    /// Its app is told something.
    mutating func take(_ event: ClientEvent) {
        room.events -= 1
        room.octets -= event.approximateOctets
    }

    /// Its app has handled so many of the events that it was told.
    mutating func returned(events: Int, octets: Int) {
        room.events += min(events, wholeRoom.events - room.events)
        room.octets += min(octets, wholeRoom.octets - room.octets)
    }

    /// Whether so much waits that what peers can do without is refused: half of the room is left for what they cannot.
    /// What it loses is counted.
    func isCrowded(_ settings: LifecycleSettings) -> Bool {
        queue.count >= settings.queuedEventLimit / 2 || queue.octets >= settings.queuedOctetLimit / 2
    }

    /// Indications are left unconfirmed while the app runs and does not keep up: their senders wait.
    mutating func holdIndications(isHeard: Bool, _ settings: LifecycleSettings, into effects: inout ManagerEffects) {
        guard role == .central, holdsIndications || !queue.isEmpty else { return }
        let isCalm = queue.count < settings.queuedEventLimit / 4 && queue.octets < settings.queuedOctetLimit / 4
        let holds = id != nil && isHeard && (holdsIndications ? !isCalm : isCrowded(settings))
        guard holds != holdsIndications else { return }
        holdsIndications = holds
        effects.submit(.holdIndications(holds), from: client)
    }

    // MARK: Losing Bluetooth

    /// What it loses below `poweredOn` (SPEC 2.3, 2.4).
    mutating func fall(to state: ManagerState, into effects: inout ManagerEffects) {
        guard id != nil else {
            central?.loseLinks(into: &effects)
            return
        }
        central?.fall(into: &effects)
        effects.commands.forget(client)
        queue.removeDiscoveries()
        guard state < .poweredOff else { return }
        peripheral?.fall(into: &effects)
        channels?.closeAll(into: &effects)
    }

    /// All that it wanted ends.
    func drop(into effects: inout ManagerEffects) {
        var manager = self
        manager.central?.drop(into: &effects)
        manager.peripheral?.drop(into: &effects)
        channels?.closeAll(into: &effects)
        peripheral?.enableServices(into: &effects)
        effects.commands.forget(client)
    }

    // MARK: Without a process

    /// What it is at now; `nil` where it is not to be preserved.
    func preserved(of app: AppID, identifier: (DeviceAddress) -> PeerIdentifier?) -> PreservedManager? {
        guard let restoreIdentifier else { return nil }
        var kept = PreservedManager(app: app, role: role, restoreIdentifier: restoreIdentifier)
        central?.preserve(into: &kept)
        peripheral?.preserve(into: &kept, identifier: identifier)
        return kept
    }

    /// Its process is gone, and what it asked for goes on.
    mutating func processEnded(keeping kept: PreservedManager, into effects: inout ManagerEffects) {
        // What was said and not heard stands in the snapshot, or is said again behind it.
        queue.removeAll { event in event.isStateChange || event.isRestoration }
        let queue = queue
        peripheral?.processEnded(
            isWaiting: { question in queue.contains { $0.question == question } }, into: &effects)
        // A channel is a thing between two processes (SPEC section 4): it does not outlast one of them.
        channels?.closeAll(into: &effects)
        id = nil
        room = wholeRoom
        toldState = nil
        snapshot = kept
        central?.processEnded()
        // Answers to a process that is gone mean nothing to the next one; what they tell of the peripheral is in its
        // services.
        self.queue.removeAll { event in
            guard case .peripheral(_, let event) = event else { return false }
            if case .valueUpdated = event { return false }
            return true
        }
    }

    /// Takes up what an earlier process left.
    mutating func restore(_ kept: PreservedManager) {
        var snapshot = kept
        for place in snapshot.peripherals.indices {
            // The link did not outlast the process that held it.
            snapshot.peripherals[place].isConnected = false
            snapshot.peripherals[place].services = nil
        }
        snapshot.subscriptions = []
        self.snapshot = snapshot
        journaled = kept
        central?.restore(kept)
        peripheral?.restore(kept)
    }

    /// What the process that holds it again is told first (SPEC SPR-10).
    mutating func takeRestoration(name: (DeviceAddress) -> String?) -> ClientEvent? {
        guard let kept = snapshot.take() else { return nil }
        if let central { return .willRestoreCentral(central.restored(kept, name: name)) }
        return .willRestorePeripheral(
            RestoredPeripheral(
                services: kept.services, subscriptions: kept.subscriptions, advertisement: kept.advertisement))
    }

    /// What the journal is to say; `nil` for nothing.
    func journalEntry(_ kept: PreservedManager) -> PreservedManager? {
        // Until its app has taken it back, a manager is what it was, even if it has been told otherwise since.
        let kept = id == nil ? snapshot?.updated(by: kept) ?? kept : kept
        return kept.hasTasks ? kept : nil
    }
}

extension CentralManager {
    fileprivate mutating func change(
        _ effects: inout ManagerEffects, _ body: (inout ChannelTable, inout ManagerEffects) -> Void
    ) {
        body(&channels, &effects)
    }
}

extension PeripheralManager {
    fileprivate mutating func change(
        _ effects: inout ManagerEffects, _ body: (inout ChannelTable, inout ManagerEffects) -> Void
    ) {
        body(&channels, &effects)
    }
}

extension PreservedManager {
    /// Peripherals that are wanted no more are wanted no more after a restart either.
    fileprivate func updated(by now: PreservedManager) -> PreservedManager {
        var kept = self
        kept.scan = now.scan
        kept.advertisement = now.advertisement
        kept.services = now.services
        return kept
    }
}
