import BLEHost
import BLEPackets

/// What one central manager has asked for: a scan, connections, what it wants to hear of others' connections
/// (SPEC CEN-4 to CEN-9, CEN-22 to CEN-24, REC-1 to REC-7).
///
/// The scan that the app wants and the one that the engine runs are two things; `converge` makes them one:
///
///     nothing runs ──wanted, and allowed as things stand──▶ runs ──other wish──▶ changed
///         ▲                                                  │ not wanted, not allowed: cancelled
///         └──────────────────────────────────────────────────┘ ended by the engine
///
/// Each peripheral that the app is connected to or waits for is a `PeripheralSession`.
struct CentralManager {
    struct RunningScan: Equatable {
        var token: CommandToken
        /// As the engine was given it.
        var request: ScanRequest
    }

    /// A device as the app names it in a request.
    struct KnownPeer: Equatable {
        var address: DeviceAddress
        var name: String?
    }

    /// How long after failing to establish a link, its quick retries included, the device is tried again.
    private static let establishmentPause = Microseconds.microseconds(500_000)

    let client: ClientID
    let app: AppID
    private(set) var scan: ScanOptions?
    private(set) var runningScan: RunningScan?
    /// In the order in which the app asked for them.
    private(set) var peripherals = OrderedTable<PeerIdentifier, PeripheralSession>()
    private(set) var connectionEvents: ConnectionEventFilter?
    var channels: ChannelTable
    private let hiddenServices: [BluetoothUUID]

    /// - Parameter hiddenServices: those of peripherals that the app does not see.
    init(client: ClientID, app: AppID, hiddenServices: [BluetoothUUID] = []) {
        self.client = client
        self.hiddenServices = hiddenServices
        self.app = app
        channels = ChannelTable(client: client)
    }

    /// Goes on with what an earlier process left.
    mutating func restore(_ kept: PreservedManager) {
        scan = kept.scan
        for peripheral in kept.peripherals where peripherals[peripheral.identifier] == nil {
            peripherals[peripheral.identifier] = PeripheralSession(
                peripheral.identifier, at: peripheral.address, client: client, app: app, options: peripheral.options,
                hiddenServices: hiddenServices)
        }
    }

    // MARK: What others ask

    /// How the app sees a device.
    func describe(_ identifier: PeerIdentifier, name: String?) -> PeripheralDescription {
        let state: PeripheralState =
            switch peripherals[identifier]?.state {
            case nil: .disconnected
            case .connecting: .connecting
            case .connected: .connected
            }
        return PeripheralDescription(identifier: identifier, name: name, state: state)
    }

    /// The oldest session on a link.
    func session(on link: LinkID) -> PeripheralSession? { peripherals.first { $0.link == link } }

    /// Whether a discovery is one of the scan that runs now.
    func isCurrent(_ scan: OperationID, in commands: borrowing CommandLedger) -> Bool {
        runningScan.map { commands.operation(of: $0.token) == scan } ?? false
    }

    /// When `converge` is due.
    var nextDeadline: Instant? { peripherals.reduce(nil) { earliest($0, $1.startDeadline) } }

    // MARK: Requests

    /// - Parameter peer: the device that a request names, where the app knows it.
    mutating func perform(
        _ request: CentralManagerRequest, of peer: KnownPeer?, _ standing: Standing, at now: Instant,
        into effects: inout ManagerEffects
    ) {
        // A wish outlasts Bluetooth (SPEC 5.5 rule 6), and so it must be possible to withdraw it then.
        if case .letGo(let identifier) = request { return cancelConnection(identifier, at: now, into: &effects) }
        guard standing.isOn else { return effects.log(.notPoweredOn(.central), of: app) }
        switch request {
        case .scan(let options):
            // A new scan is a new beginning: what the old one reported is reported again.
            if let running = runningScan.take() { effects.cancel(running.token) }
            scan = options
            if options.services.isEmpty, standing.isInBackground {
                effects.log(.backgroundScanWithoutServices, of: app)
            }
            converge(standing, at: now, into: &effects)
        case .stopScan:
            scan = nil
            converge(standing, at: now, into: &effects)
        case .connect(let identifier, let options):
            connect(identifier, peer, options, standing, at: now, into: &effects)
        case .cancelConnection(let identifier): cancelConnection(identifier, at: now, into: &effects)
        case .registerForConnectionEvents(let filter): connectionEvents = filter
        case .peripheral(let identifier, let request):
            guard let link = peripherals[identifier]?.link else {
                return effects.log(.notConnected(identifier), of: app)
            }
            peripherals[identifier]?.perform(request, on: link, into: &effects)
        case .letGo(let identifier): cancelConnection(identifier, at: now, into: &effects)
        // The router answers these: they need no Bluetooth.
        case .retrievePeripherals, .retrieveConnectedPeripherals: break
        }
    }

    // MARK: What the engine is to do

    /// Everything comes from here, so that nothing is forgotten when the standing changes.
    mutating func converge(_ standing: Standing, at now: Instant, into effects: inout ManagerEffects) {
        convergeScan(standing, into: &effects)
        for identifier in peripherals.keys {
            peripherals[identifier]?.converge(isOn: standing.isOn, at: now, into: &effects)
        }
        effects.needsJournal = true
    }

    mutating func convergeScan(_ standing: Standing, into effects: inout ManagerEffects) {
        switch (runningScan, wantedScan(standing)) {
        case (nil, let wanted?):
            runningScan = RunningScan(
                token: effects.submit(.radio(.scan(wanted)), from: client, for: .scan(client)), request: wanted)
        case (let running?, nil):
            effects.cancel(running.token)
            runningScan = nil
        case (let running?, let wanted?) where running.request != wanted:
            // Until the engine has named the operation, nothing of it can be changed.
            guard let operation = effects.commands.operation(of: running.token) else { return }
            effects.submit(.radio(.changeScan(operation, wanted)), from: client)
            runningScan?.request = wanted
        case (nil, nil), (_?, _?): break
        }
    }

    private func wantedScan(_ standing: Standing) -> ScanRequest? {
        guard let scan, standing.isOn else { return nil }
        // In the background only who names services hears anything (SPEC BGC-5), and each device once (SPEC BGC-3).
        let isInBackground = standing.isInBackground
        guard standing.isActive, !isInBackground || !scan.services.isEmpty else { return nil }
        var request = ScanRequest(
            allowsDuplicates: scan.allowsDuplicates && !isInBackground, serviceUUIDs: scan.services,
            isInBackground: isInBackground)
        if !scan.services.isEmpty, !scan.solicitedServices.isEmpty {
            request.solicitedServiceUUIDs = scan.solicitedServices
        }
        return request
    }

    /// The engine gave a scan up; it is started again when the controller is back.
    mutating func scanEnded(_ token: CommandToken) {
        if runningScan?.token == token { runningScan = nil }
    }

    // MARK: Connections

    private mutating func connect(
        _ identifier: PeerIdentifier, _ peer: KnownPeer?, _ options: ConnectOptions, _ standing: Standing,
        at now: Instant, into effects: inout ManagerEffects
    ) {
        guard let peer else {
            return effects.tell(.connectionFailed(identifier, .coreBluetooth(.unknownDevice)), to: client)
        }
        if let session = peripherals[identifier] {
            peripherals[identifier]?.options = options
            effects.needsJournal = true
            if session.link != nil { tellConnected(identifier, name: peer.name, into: &effects) }
            return
        }
        let delay = Microseconds.microseconds(max(0, min(options.startDelayMilliseconds, .max / 1000)) * 1000)
        peripherals[identifier] = PeripheralSession(
            identifier, at: peer.address, client: client, app: app, options: options,
            notBefore: delay > .zero ? now.advanced(by: delay) : nil, hiddenServices: hiddenServices)
        converge(standing, at: now, into: &effects)
    }

    private func tellConnected(_ identifier: PeerIdentifier, name: String?, into effects: inout ManagerEffects) {
        guard let session = peripherals[identifier] else { return }
        effects.tell(
            .connected(describe(identifier, name: name), maximumWriteLength: session.writeLimits), to: client)
    }

    /// The engine has a link for this manager.
    mutating func connected(
        _ information: LinkInformation, name: String?, _ standing: Standing, into effects: inout ManagerEffects
    ) {
        let address = information.peer.withoutIdentityMark
        guard let identifier = peripherals.first(where: { $0.address == address })?.identifier else {
            // Nobody wants it any more.
            effects.submit(.link(information.id, .disconnect), from: client)
            return
        }
        peripherals[identifier]?.connected(information.id, attMTU: information.attMTU)
        effects.needsJournal = true
        if !standing.isPreserved { effects.alert(.connection, at: address) }
        tellConnected(identifier, name: name, into: &effects)
    }

    /// A device that this manager is connected to is wanted under the other identifier that the app has of it: it was
    /// heard under an address of which nobody knew yet whose it is.
    mutating func connectedUnderAnotherName(
        _ link: LinkID, of shared: SharedLink, as identifier: PeerIdentifier, _ token: CommandToken, name: String?,
        into effects: inout ManagerEffects
    ) {
        guard let session = peripherals[identifier], case .connecting(token, _) = session.state,
            shared.address == session.address
        else { return }
        peripherals[identifier]?.connected(link, attMTU: shared.attMTU)
        effects.needsJournal = true
        tellConnected(identifier, name: name, into: &effects)
    }

    mutating func connectionFailed(
        _ identifier: PeerIdentifier, _ token: CommandToken, _ failure: HostFailure, at now: Instant,
        into effects: inout ManagerEffects
    ) {
        guard case .connecting(token, _)? = peripherals[identifier]?.state else { return }
        switch failure {
        case .controllerLost, .controllerUnresponsive, .cancelled, .invalidRequest(.stopped):
            // It stands, and is given to the engine again when the controller is back (SPEC 5.5 rule 6).
            peripherals[identifier]?.wait()
        case .connectionFailed(let status) where status == .connectionFailedToBeEstablished:
            // The device went away in between, or the controller does not wait for it: the request stands (SPEC CEN-9).
            peripherals[identifier]?.wait(until: now.advanced(by: Self.establishmentPause))
        case .connectionFailed, .controller, .commandTimeout, .linkLost, .notConnected, .gatt, .security, .channel,
            .publishing, .invalidRequest, .procedureTimeout, .rejectedByPeer, .limitReached:
            peripherals[identifier] = nil
            effects.needsJournal = true
            effects.tell(.connectionFailed(identifier, failure.connectionError), to: client)
        }
    }

    /// The app hears of it at once; the link ends when nobody holds it (SPEC CEN-22 to CEN-24).
    private mutating func cancelConnection(
        _ identifier: PeerIdentifier, at now: Instant, into effects: inout ManagerEffects
    ) {
        guard let session = peripherals.remove(identifier) else { return }
        switch session.state {
        case .connecting(let token?, _): effects.cancel(token)
        case .connecting: break
        case .connected(let link):
            // More than one session holds it where the app has two identifiers of the device.
            if self.session(on: link) == nil { effects.submit(.link(link, .disconnect), from: client) }
        }
        effects.commands.forget(client, on: identifier)
        effects.needsJournal = true
        effects.tell(
            .disconnected(identifier, nil, microseconds: now.microseconds, isReconnecting: false), to: client)
    }

    /// The oldest session on a link has lost it.
    mutating func lost(
        _ link: LinkID, _ reason: DisconnectionReason, _ standing: Standing, at now: Instant,
        into effects: inout ManagerEffects
    ) {
        guard let session = session(on: link) else { return }
        let identifier = session.identifier
        effects.commands.forget(client, on: identifier)
        effects.needsJournal = true
        if reason == .controllerLost, standing.isPreserved {
            peripherals[identifier]?.wait()
            return converge(standing, at: now, into: &effects)
        }
        // Without the keys the next link would end as this one.
        let hasKeys = reason != .controller(.pinOrKeyMissing)
        let isReconnecting = session.options.reconnectsAutomatically && hasKeys
        if isReconnecting {
            peripherals[identifier]?.wait()
            peripherals[identifier]?.forgetDatabase()
        } else {
            peripherals[identifier] = nil
        }
        effects.tell(
            .disconnected(
                identifier, reason.clientError, microseconds: now.microseconds, isReconnecting: isReconnecting),
            to: client)
        converge(standing, at: now, into: &effects)
    }

    /// What it loses below `poweredOn` (SPEC 2.3). A wish for a connection stands.
    mutating func fall(into effects: inout ManagerEffects) {
        scan = nil
        for link in peripherals.compactMap(\.link) { effects.submit(.link(link, .disconnect), from: client) }
        effects.commands.forget(client)
        peripherals.removeAll { $0.link != nil }
    }

    /// What is preserved wants its links back.
    mutating func loseLinks(into effects: inout ManagerEffects) {
        for session in peripherals {
            guard let link = session.link else { continue }
            effects.submit(.link(link, .disconnect), from: client)
            peripherals[session.identifier]?.wait()
        }
    }

    /// All that it wanted ends.
    func drop(into effects: inout ManagerEffects) {
        if let running = runningScan { effects.cancel(running.token) }
        for session in peripherals {
            switch session.state {
            case .connecting(let token?, _): effects.cancel(token)
            case .connecting: break
            case .connected(let link): effects.submit(.link(link, .disconnect), from: client)
            }
        }
    }

    /// Its process is gone, and what it asked for goes on.
    mutating func processEnded() { connectionEvents = nil }

    // MARK: Peripherals

    /// The engine has ended what was asked of a peripheral.
    mutating func ended(
        _ task: PeripheralTask, of identifier: PeerIdentifier, _ result: Result<HostResult, HostFailure>,
        into effects: inout ManagerEffects
    ) {
        if case .success(.channel(let information)) = result {
            guard peripherals[identifier]?.link != nil, case .openChannel(let psm) = task else { return }
            return channels.opened(information, psm: psm, by: identifier, into: &effects)
        }
        peripherals[identifier]?.ended(task, result, into: &effects)
    }

    /// A value that the peer sent by itself.
    func notified(
        _ notification: GATTNotification, on link: LinkID, _ standing: Standing, into effects: inout ManagerEffects
    ) {
        session(on: link)?.received(
            notification.value, of: notification.handle, isPreserved: standing.isPreserved, into: &effects)
    }

    /// Lets every session on a link know something.
    mutating func forEachSession(on link: LinkID, _ body: (inout PeripheralSession) -> Void) {
        for identifier in peripherals.keys where peripherals[identifier]?.link == link {
            peripherals.change(identifier, body)
        }
    }

    /// A private address belongs to a device that is known by its identity from now on.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        for session in peripherals where session.address == address {
            peripherals[session.identifier]?.address = identity
        }
    }

    // MARK: Preservation

    func preserve(into kept: inout PreservedManager) {
        kept.scan = scan
        kept.peripherals = peripherals.map {
            PreservedManager.Peripheral(
                identifier: $0.identifier, address: $0.address, options: $0.options, isConnected: $0.link != nil,
                services: $0.database.services)
        }
    }

    /// What is given back to the app that is launched again (SPEC SPR-10, SPR-12).
    func restored(_ kept: PreservedManager, name: (DeviceAddress) -> String?) -> RestoredCentral {
        let restored = kept.peripherals.map { peripheral in
            let mtu = peripherals[peripheral.identifier]?.attMTU ?? 23
            return RestoredRemotePeripheral(
                description: PeripheralDescription(
                    identifier: peripheral.identifier, name: name(peripheral.address),
                    state: peripheral.isConnected ? .connected : .connecting),
                services: peripheral.services,
                writeLimits: WriteLimits(withResponse: 512, withoutResponse: mtu - 3))
        }
        return RestoredCentral(peripherals: restored, scan: kept.scan)
    }
}
