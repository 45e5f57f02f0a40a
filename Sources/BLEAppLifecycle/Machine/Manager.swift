import BLEHost
import BLEPackets

/// A manager of an app, or the preserved manager of an app that does not run. It connects the state of the manager with
/// the process.
///
///     made ──▶ of a process ──process ends, something to preserve──▶ preserved ──made again──▶ of a process
///                   └──released, process ends, nothing to preserve──▶ removed ◀──force quit──┘
struct Manager {
    /// What a manager does, by its role.
    enum Role {
        case central(Machine<CentralManager>)
        case peripheral(Machine<PeripheralManager>)
    }

    /// The state of a machine, which is changed in place: an enum's payload would be moved out and back, and each read
    /// of a manager would copy all of it. Only one manager refers to it.
    final class Machine<State> {
        var state: State
        init(_ state: State) { self.state = state }
    }

    private struct Room {
        var events: Int
        var octets: Int
    }

    /// The manager's client identifier in the engine.
    let client: ClientID
    /// The index of its app.
    let app: Int
    /// `nil` while no process has created it.
    var id: ManagerID? { didSet { ownRevision += 1 } }
    /// `nil` if the manager is not preserved.
    let restoreIdentifier: String?
    var options = ManagerOptions() { didSet { ownRevision += 1 } }
    /// The latest state in events for the app, delivered or waiting.
    var reportedState: ManagerState?
    var queue: ClientEventQueue
    /// How many events and octets the app may still receive before it has handled others.
    private var room: Room
    private let wholeRoom: Room
    /// Whether the engine leaves indications for this manager unconfirmed.
    private var holdsIndications = false
    /// The state of the manager when its app ended.
    var snapshot: PreservedManager? { didSet { ownRevision += 1 } }
    /// The state of the manager in the journal.
    var journaled: PreservedManager?
    /// The revision that was last compared with the journal.
    var journaledRevision: UInt64?
    private var ownRevision: UInt64 = 0
    let role: Role

    init(
        _ kind: ManagerRole, client: ClientID, app: Int, named appID: AppID, restoreIdentifier: String?,
        hiding hiddenServices: [BluetoothUUID], settings: LifecycleSettings
    ) {
        self.client = client
        self.app = app
        self.restoreIdentifier = restoreIdentifier
        queue = ClientEventQueue(eventLimit: settings.queuedEventLimit, octetLimit: settings.queuedOctetLimit)
        wholeRoom = Room(events: settings.unhandledEventLimit, octets: settings.unhandledOctetLimit)
        room = wholeRoom
        role =
            switch kind {
            case .central:
                .central(Machine(CentralManager(client: client, app: appID, hiddenServices: hiddenServices)))
            case .peripheral:
                .peripheral(
                    Machine(
                        PeripheralManager(
                            client: client, app: appID, disabledServiceError: settings.disabledServiceError)))
            }
    }

    var kind: ManagerRole { if case .central = role { .central } else { .peripheral } }

    /// The central manager; `nil` in the other role.
    var central: Machine<CentralManager>? { if case .central(let machine) = role { machine } else { nil } }

    /// The peripheral manager; `nil` in the other role.
    var peripheral: Machine<PeripheralManager>? { if case .peripheral(let machine) = role { machine } else { nil } }

    /// Whether a scan of the engine is this manager's.
    func runs(_ scan: OperationID) -> Bool { central?.state.runningScan?.operation == scan }

    /// The state of a device for the app. Most managers that discover thousands of devices use none.
    func state(of peripheral: PeerIdentifier) -> PeripheralState {
        guard let central, !central.state.peripherals.isEmpty else { return .disconnected }
        return central.state.state(of: peripheral)
    }

    var channels: ChannelTable {
        switch role {
        case .central(let machine): machine.state.channels
        case .peripheral(let machine): machine.state.channels
        }
    }

    /// Whether the app is connected or connecting to a device, or was when its process ended.
    func refers(to identifier: PeerIdentifier) -> Bool {
        let isKept = snapshot?.peripherals.contains { $0.identifier == identifier } ?? false
        return isKept || central?.state.peripherals.withValue(of: identifier) { _ in true } ?? false
    }

    func withChannels(
        _ effects: inout ManagerEffects, _ body: (inout ChannelTable, inout ManagerEffects) -> Void
    ) {
        switch role {
        case .central(let machine): body(&machine.state.channels, &effects)
        case .peripheral(let machine): body(&machine.state.channels, &effects)
        }
    }

    func converge(_ permissions: ManagerPermissions, into effects: inout ManagerEffects) {
        central?.state.converge(permissions, into: &effects)
        peripheral?.state.converge(permissions, into: &effects)
    }

    /// Whether the manager waits for its app to create it again under this identifier.
    func isKept(_ app: Int, _ kind: ManagerRole, _ identifier: String) -> Bool {
        self.app == app && self.kind == kind && restoreIdentifier == identifier && id == nil
    }

    // MARK: Apps that are slower than their peers

    /// Whether the app can receive an event now.
    var hasRoom: Bool { room.events > 0 && room.octets > 0 }

    /// Whether the app has received events that it has not handled, as far as its owner reports it.
    var hasUnhandled: Bool { room.events < wholeRoom.events }

    /// Counts an event for the app.
    mutating func countDelivered(_ event: ClientEvent) { countDelivered(octets: event.approximateOctets) }

    /// Counts an event with this many octets for the app.
    mutating func countDelivered(octets: Int) {
        room.events -= 1
        room.octets -= octets
    }

    /// The app has handled this many events.
    mutating func returned(events: Int, octets: Int) {
        room.events += min(events, wholeRoom.events - room.events)
        room.octets += min(octets, wholeRoom.octets - room.octets)
    }

    /// Whether the queue is half full. Then events that peers can do without are refused, and counted as lost; the
    /// other half is for the rest.
    func isCrowded(_ settings: LifecycleSettings) -> Bool {
        queue.count >= settings.queuedEventLimit / 2 || queue.octets >= settings.queuedOctetLimit / 2
    }

    /// Whether `withholdConfirmations` may have an effect.
    var mayHoldIndications: Bool { kind == .central && (holdsIndications || !queue.isEmpty) }

    /// While the app runs but is too slow, indications stay unconfirmed, so that their senders wait.
    mutating func withholdConfirmations(
        isHeard: Bool, _ settings: LifecycleSettings, into effects: inout ManagerEffects
    ) {
        let isCalm = queue.count < settings.queuedEventLimit / 4 && queue.octets < settings.queuedOctetLimit / 4
        let holds = id != nil && isHeard && (holdsIndications ? !isCalm : isCrowded(settings))
        guard holds != holdsIndications else { return }
        holdsIndications = holds
        effects.submit(.withholdConfirmations(holds), from: client)
    }

    // MARK: Losing Bluetooth

    /// Handles the losses below `poweredOn` (SPEC 2.3, 2.4).
    /// - Parameter isByUser: whether the user has taken Bluetooth away from the app.
    /// - Returns: the links whose end the app must learn after the state.
    mutating func fall(
        to state: ManagerState, isByUser: Bool, into effects: inout ManagerEffects
    ) -> [CentralManager.LostLink] {
        guard id != nil else {
            loseLinks(forGood: isByUser, into: &effects)
            return []
        }
        let lost = central?.state.fall(to: state, into: &effects) ?? []
        effects.commands.forget(client)
        queue.removeDiscoveries()
        guard state < .poweredOff else { return lost }
        peripheral?.state.fall(into: &effects)
        channels.closeAll(into: &effects)
        return lost
    }

    /// The links of a manager without a process end. A link that the app had is made again without an event, as if it
    /// had lasted, unless the user has ended it: the app gets no events that it did not ask for (SPEC 5.5 rule 6).
    private mutating func loseLinks(forGood isForGood: Bool, into effects: inout ManagerEffects) {
        for identifier in central?.state.held ?? [] {
            guard let place = snapshot?.peripherals.firstIndex(where: { $0.identifier == identifier && $0.isConnected })
            else {
                // The app still waits for this connection.
                queue.removeAll { $0.isConnection(of: identifier) }
                central?.state.loseLink(of: identifier, resumes: false, into: &effects)
                continue
            }
            if isForGood {
                snapshot?.peripherals[place].isOver = true
                central?.state.leave(identifier, into: &effects)
            } else {
                central?.state.loseLink(of: identifier, resumes: true, into: &effects)
            }
        }
    }

    /// Ends all activities of the manager.
    func drop(into effects: inout ManagerEffects) {
        central?.state.drop(into: &effects)
        peripheral?.state.drop(into: &effects)
        channels.closeAll(into: &effects)
        peripheral?.state.enableServices(into: &effects)
        effects.commands.forget(client)
    }

    // MARK: Without a process

    /// The current state for preservation; `nil` if the manager is not preserved.
    func preserved(of app: AppID, identifier: (DeviceAddress) -> PeerIdentifier?) -> PreservedManager? {
        guard let restoreIdentifier else { return nil }
        var kept = PreservedManager(app: app, role: kind, restoreIdentifier: restoreIdentifier)
        kept.overflow = options.overflow
        central?.state.preserve(into: &kept)
        peripheral?.state.preserve(into: &kept, identifier: identifier)
        return kept
    }

    /// The manager's process has ended; its activities continue.
    mutating func processEnded(keeping kept: PreservedManager, into effects: inout ManagerEffects) {
        // The snapshot contains what these events report, or they will be sent again after it.
        queue.removeAll { event in event.isStateChange || event.isRestoration }
        let queue = queue
        peripheral?.state.processEnded(
            isWaiting: { question in queue.contains { $0.question == question } }, into: &effects)
        // A channel connects two processes (SPEC section 4), so it ends with either of them.
        channels.closeAll(into: &effects)
        id = nil
        room = wholeRoom
        reportedState = nil
        snapshot = kept
        central?.state.processEnded()
        // Responses to requests of the ended process mean nothing to the next one; the services contain what they say
        // about the peripheral.
        self.queue.removeAll { event in
            guard case .peripheral(_, let event) = event else { return false }
            if case .valueUpdated = event { return false }
            return true
        }
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ kept: PreservedManager) {
        var snapshot = kept
        // The links of centrals ended with the process.
        snapshot.subscriptions = []
        self.snapshot = snapshot
        journaled = kept
        options.overflow = kept.overflow
        central?.state.restore(kept)
        peripheral?.state.restore(kept)
    }

    /// The first event for the new process (SPEC SPR-10).
    mutating func restorationEvent(name: (DeviceAddress) -> String?) -> ClientEvent? {
        guard let kept = snapshot.take() else { return nil }
        if let central { return .willRestoreCentral(central.state.restored(kept, name: name)) }
        return .willRestorePeripheral(
            RestoredPeripheral(
                services: kept.services, subscriptions: kept.subscriptions, advertisement: kept.advertisement))
    }

    /// The process that had this manager still runs: it knows what would be restored, and requests again what a reset
    /// of Bluetooth ends. It has received the ends of its links; its connection attempts continue.
    mutating func continueProcess(into effects: inout ManagerEffects) {
        let links = snapshot?.peripherals.filter(\.isConnected).map(\.identifier) ?? []
        snapshot = nil
        queue.removeAll { event in
            switch event {
            case .subscribed, .unsubscribed, .discovered: true
            case .disconnected(let peer, _, _, _), .peripheral(let peer, _): links.contains(peer)
            case .connected(let peripheral, _): links.contains(peripheral.identifier)
            default: false
            }
        }
        central?.state.continueProcess(without: links, into: &effects)
        peripheral?.state.continueProcess()
    }

    /// Grows when something changes that may be preserved.
    var revision: UInt64 {
        switch role {
        case .central(let machine): ownRevision + machine.state.revision
        case .peripheral(let machine): ownRevision + machine.state.revision
        }
    }

    /// Whether the manager is preserved, and has changed since it was last compared with the journal.
    var mayDifferFromJournal: Bool { restoreIdentifier != nil && revision != journaledRevision }

    /// The state for the journal; `nil` for none.
    func journalEntry(_ kept: PreservedManager) -> PreservedManager? {
        // Until the app creates it again, a preserved manager keeps its snapshot, even if its state has changed since.
        let kept = id == nil ? snapshot?.updated(by: kept) ?? kept : kept
        return kept.hasTasks ? kept : nil
    }
}

extension PreservedManager {
    /// What else the manager does now, so that it does the same after a restart.
    fileprivate func updated(by now: PreservedManager) -> PreservedManager {
        var kept = self
        kept.scan = now.scan
        kept.advertisement = now.advertisement
        kept.services = now.services
        return kept
    }
}
