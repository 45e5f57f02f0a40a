import BLEHost
import BLEPackets

/// The state of one central manager: a scan, connections, and registered connection events (SPEC CEN-4 to CEN-9, CEN-22
/// to CEN-24, REC-1 to REC-7).
///
/// The scan that the app wants may differ from the one that the engine runs; `converge` makes them the same:
///
///     nothing runs ──wanted, and allowed──▶ runs ──other request──▶ changed
///         ▲                                  │ not wanted, not allowed: cancelled
///         └──────────────────────────────────┘ ended by the engine
///
/// Each peripheral that the app is connected or connecting to is a `PeripheralSession`.
struct CentralManager {
    struct RunningScan: Equatable {
        var token: CommandToken
        /// The request as it was submitted to the engine.
        var request: ScanRequest
        /// The engine's operation, once it is known.
        var operation: OperationID?
    }

    /// The device that the app names in a request.
    struct KnownPeer: Equatable {
        var address: DeviceAddress
        var name: String?
    }

    /// How long to wait before connecting again if a link, including its quick retries, could not be established.
    private static let establishmentPause = Microseconds.microseconds(500_000)

    let client: ClientID
    let app: AppID
    private(set) var scan: ScanOptions? {
        didSet {
            scannedServices = scan.map { ScannedServices($0.services) }
            found = []
            revision += 1
        }
    }
    /// The services of the scan.
    private(set) var scannedServices: ScannedServices?
    private(set) var runningScan: RunningScan?
    /// The devices that the present scan has found while the app was in the background. Only for lookup, never
    /// iterated.
    private var found: Set<PeerIdentifier> = []
    /// How many of them are kept: beyond it, all are forgotten, so that a device may wake the app once more.
    private static let foundLimit = 1024
    /// In the order of the app's requests.
    private(set) var peripherals = OrderedTable<PeerIdentifier, PeripheralSession>() { didSet { revision += 1 } }
    /// Grows when something changes that is preserved.
    private(set) var revision: UInt64 = 0
    private(set) var connectionEvents: ConnectionWatch?
    var channels: ChannelTable
    private var hiddenServices: [BluetoothUUID]

    /// - Parameter hiddenServices: services of peripherals that the app does not see.
    init(client: ClientID, app: AppID, hiddenServices: [BluetoothUUID] = []) {
        self.client = client
        self.hiddenServices = hiddenServices
        self.app = app
        channels = ChannelTable(client: client)
    }

    /// Changes which services of peripherals the app does not see; those that it has discovered remain.
    mutating func hide(_ services: [BluetoothUUID]) {
        guard services != hiddenServices else { return }
        hiddenServices = services
        for identifier in peripherals.keys { peripherals.change(identifier) { $0.hiddenServices = services } }
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ kept: PreservedManager) {
        scan = kept.scan
        for peripheral in kept.peripherals where peripheral.isOver != true && peripherals[peripheral.identifier] == nil
        {
            peripherals[peripheral.identifier] = PeripheralSession(
                peripheral, client: client, app: app, hiddenServices: hiddenServices)
        }
    }

    // MARK: What others ask

    /// The description of a device for the app.
    func describe(_ identifier: PeerIdentifier, name: String?) -> PeripheralDescription {
        PeripheralDescription(identifier: identifier, name: name, state: state(of: identifier))
    }

    func state(of identifier: PeerIdentifier) -> PeripheralState {
        switch peripherals[identifier]?.state {
        case nil: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        }
    }

    func link(of identifier: PeerIdentifier) -> LinkID? { peripherals[identifier]?.link }

    /// The oldest session on a link.
    func session(on link: LinkID) -> PeripheralSession? { peripherals.first { $0.link == link } }

    /// The octets of requests to peripherals that have not been submitted to the engine.
    var waitingOctets: Int { peripherals.reduce(0) { $0 + $1.waitingOctets } }

    /// Answers a request to a peripheral for which there is no room.
    mutating func refuse(_ request: PeripheralRequest, to peer: PeerIdentifier, into effects: inout ManagerEffects) {
        guard peripherals[peer]?.link != nil else { return }
        peripherals[peer]?.refuse(request, into: &effects)
    }

    /// When to call `converge`.
    var nextDeadline: Instant? { peripherals.reduce(nil) { earliest($0, $1.startDeadline) } }

    // MARK: Requests

    /// - Parameter peer: the device in the request, if the app knows it.
    mutating func perform(
        _ request: CentralManagerRequest, of peer: KnownPeer?, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        // A connection attempt continues while Bluetooth is off (SPEC 5.5 rule 6), so the app must be able to end it
        // then.
        if case .letGo(let identifier) = request { return cancelConnection(identifier, into: &effects) }
        // An app that connects, as it does when a link has ended or Bluetooth is on again, may not know yet
        // that Bluetooth is off or being reset. Like an attempt that was pending, its attempt begins afterwards.
        if case .connect(let identifier, let options) = request,
            permissions.state == .resetting || permissions.state == .poweredOff
        {
            return connect(identifier, peer, options, permissions, into: &effects)
        }
        guard permissions.isOn else { return effects.log(.notPoweredOn(.central), of: app) }
        switch request {
        case .scan(let options):
            // A new scan starts from the beginning: it reports devices again that the previous one reported.
            if let running = runningScan.take() { effects.cancel(running.token) }
            scan = options
            if options.services.isEmpty, permissions.isInBackground {
                effects.log(.backgroundScanWithoutServices, of: app)
            }
            converge(permissions, into: &effects)
        case .stopScan:
            scan = nil
            converge(permissions, into: &effects)
        case .connect(let identifier, let options):
            connect(identifier, peer, options, permissions, into: &effects)
        case .cancelConnection(let identifier): cancelConnection(identifier, into: &effects)
        case .registerForConnectionEvents(let filter): connectionEvents = filter.map { ConnectionWatch($0) }
        case .peripheral(let identifier, let request):
            guard let link = peripherals[identifier]?.link else {
                return effects.log(.notConnected(identifier), of: app)
            }
            peripherals[identifier]?.perform(request, on: link, into: &effects)
        case .letGo(let identifier): cancelConnection(identifier, into: &effects)
        // The router answers these, which do not need Bluetooth.
        case .retrievePeripherals, .retrieveConnectedPeripherals: break
        }
    }

    // MARK: What the engine is to do

    /// All activities start here, so that none is forgotten when the permissions change.
    mutating func converge(_ permissions: ManagerPermissions, into effects: inout ManagerEffects) {
        convergeScan(permissions, into: &effects)
        for identifier in peripherals.keys {
            peripherals[identifier]?.converge(isOn: permissions.isOn, into: &effects)
        }
    }

    mutating func convergeScan(_ permissions: ManagerPermissions, into effects: inout ManagerEffects) {
        switch (runningScan, wantedScan(permissions)) {
        case (nil, let wanted?):
            runningScan = RunningScan(
                token: effects.submit(.radio(.scan(wanted)), from: client, for: .scan(client)), request: wanted)
        case (let running?, nil):
            effects.cancel(running.token)
            runningScan = nil
        case (let running?, let wanted?) where running.request != wanted:
            // The operation can only be changed once it is known.
            guard let operation = effects.commands.operation(of: running.token) else { return }
            effects.submit(.radio(.changeScan(operation, wanted)), from: client)
            runningScan?.request = wanted
        case (nil, nil), (_?, _?): break
        }
    }

    private func wantedScan(_ permissions: ManagerPermissions) -> ScanRequest? {
        guard let scan, permissions.isOn else { return nil }
        // A background scan must name services (SPEC BGC-5), and reports each device once (SPEC BGC-3).
        let isInBackground = permissions.isInBackground
        guard permissions.isActive, !isInBackground || !scan.services.isEmpty else { return nil }
        var request = ScanRequest(
            allowsDuplicates: scan.allowsDuplicates && !isInBackground, serviceUUIDs: scan.services,
            isInBackground: isInBackground)
        if !scan.services.isEmpty, !scan.solicitedServices.isEmpty {
            request.solicitedServiceUUIDs = scan.solicitedServices
        }
        return request
    }

    /// The engine has accepted the scan.
    mutating func scanSubmitted(_ token: CommandToken, as operation: OperationID) {
        if runningScan?.token == token { runningScan?.operation = operation }
    }

    /// The engine has ended the scan; it starts again when the controller is back.
    mutating func scanEnded(_ token: CommandToken) {
        if runningScan?.token == token { runningScan = nil }
    }

    /// Notes that the scan has found a device while the app is in the background.
    /// - Returns: whether it is new to this scan, or has been connected since.
    mutating func recordFound(_ identifier: PeerIdentifier) -> Bool {
        if found.count >= Self.foundLimit, !found.contains(identifier) { found = [] }
        return found.insert(identifier).inserted
    }

    // MARK: Connections

    private mutating func connect(
        _ identifier: PeerIdentifier, _ peer: KnownPeer?, _ options: ConnectOptions, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        guard let peer else {
            return effects.deliver(.connectionFailed(identifier, .coreBluetooth(.unknownDevice)), to: client)
        }
        if let session = peripherals[identifier] {
            peripherals[identifier]?.options = options
            if session.link != nil { deliverConnected(identifier, name: peer.name, into: &effects) }
            return
        }
        let delay = Microseconds.microseconds(max(0, min(options.startDelayMilliseconds, .max / 1000)) * 1000)
        peripherals[identifier] = PeripheralSession(
            identifier, at: peer.address, client: client, app: app, options: options,
            notBefore: delay > .zero ? effects.now.advanced(by: delay) : nil, hiddenServices: hiddenServices)
        converge(permissions, into: &effects)
    }

    private func deliverConnected(_ identifier: PeerIdentifier, name: String?, into effects: inout ManagerEffects) {
        guard let session = peripherals[identifier] else { return }
        effects.deliver(
            .connected(describe(identifier, name: name), maximumWriteLength: session.writeLimits), to: client)
    }

    /// The engine has established a link for this manager.
    mutating func connected(
        _ information: LinkInformation, name: String?, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        let address = information.peer.withoutIdentityMark
        guard let identifier = peripherals.first(where: { $0.address == address })?.identifier else {
            // The app no longer wants the link.
            effects.submit(.link(information.id, .disconnect), from: client)
            return
        }
        // The next process of the app finds this link in the place of the one that it had.
        let isQuiet = permissions.isPreserved && peripherals[identifier]?.resumes == true
        peripherals[identifier]?.connected(information.id, attMTU: information.attMTU, into: &effects)
        if !permissions.isPreserved { effects.alert(.connection, at: address) }
        if !isQuiet { deliverConnected(identifier, name: name, into: &effects) }
    }

    /// The app connects to a device by its second identifier for it, while this manager is already connected to the
    /// device. The app has two identifiers because it discovered the device under an address whose identity was not
    /// known then.
    mutating func connectedUnderAnotherName(
        _ link: LinkID, of shared: SharedLink, as identifier: PeerIdentifier, _ token: CommandToken, name: String?,
        into effects: inout ManagerEffects
    ) {
        guard let session = peripherals[identifier], case .connecting(token, _) = session.state,
            shared.address == session.address
        else { return }
        peripherals[identifier]?.connected(link, attMTU: shared.attMTU, into: &effects)
        deliverConnected(identifier, name: name, into: &effects)
    }

    mutating func connectionFailed(
        _ identifier: PeerIdentifier, _ token: CommandToken, _ failure: HostFailure,
        into effects: inout ManagerEffects
    ) {
        guard case .connecting(token, _)? = peripherals[identifier]?.state else { return }
        switch failure {
        case .controllerLost, .controllerUnresponsive, .controllerFault, .cancelled, .invalidRequest(.stopped):
            // The attempt continues: it is submitted again when the controller is back (SPEC 5.5 rule 6).
            peripherals[identifier]?.wait()
        case .connectionFailed(let status) where status == .connectionFailedToBeEstablished:
            // The device went away meanwhile, or the controller does not wait for it: the attempt continues (SPEC
            // CEN-9).
            peripherals[identifier]?.wait(until: effects.now.advanced(by: Self.establishmentPause))
        case .connectionFailed, .controller, .commandTimeout, .linkLost, .notConnected, .gatt, .security, .channel,
            .publishing, .invalidRequest, .procedureTimeout, .rejectedByPeer, .limitReached:
            peripherals[identifier] = nil
            effects.deliver(.connectionFailed(identifier, failure.connectionError), to: client)
        }
    }

    /// The app gets the event at once; the link ends when no manager uses it (SPEC CEN-22 to CEN-24).
    private mutating func cancelConnection(
        _ identifier: PeerIdentifier, into effects: inout ManagerEffects
    ) {
        guard leave(identifier, into: &effects) else { return }
        effects.deliver(
            .disconnected(identifier, nil, microseconds: effects.now.microseconds, isReconnecting: false), to: client)
    }

    /// Ends a connection or a connection attempt without a word to the app.
    /// - Returns: whether there was one.
    @discardableResult
    mutating func leave(_ identifier: PeerIdentifier, into effects: inout ManagerEffects) -> Bool {
        guard let session = peripherals.remove(identifier) else { return false }
        found.remove(identifier)
        switch session.state {
        case .connecting(let token?, _): effects.cancel(token)
        case .connecting: break
        case .connected(let link):
            // If the app has two identifiers of the device, several sessions use the link.
            if self.session(on: link) == nil { effects.submit(.link(link, .disconnect), from: client) }
        }
        effects.commands.forget(client, on: identifier)
        return true
    }

    /// A link has ended: removes the oldest session on it.
    mutating func lost(
        _ link: LinkID, _ reason: DisconnectionReason, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        guard let session = session(on: link) else { return }
        let identifier = session.identifier
        found.remove(identifier)
        effects.commands.forget(client, on: identifier)
        if reason == .controllerLost, permissions.isPreserved {
            peripherals[identifier]?.resume()
            return converge(permissions, into: &effects)
        }
        // Without the keys, the next link would end in the same way.
        let hasKeys = reason != .controller(.pinOrKeyMissing)
        let isReconnecting = session.options.reconnectsAutomatically && hasKeys
        if isReconnecting {
            peripherals[identifier]?.wait()
            peripherals[identifier]?.forgetDatabase()
        } else {
            peripherals[identifier] = nil
        }
        effects.deliver(
            .disconnected(
                identifier, reason.clientError, microseconds: effects.now.microseconds, isReconnecting: isReconnecting),
            to: client)
        converge(permissions, into: &effects)
    }

    /// A link that ended because the controller is being reset.
    struct LostLink: Equatable {
        let peripheral: PeerIdentifier
        let isReconnecting: Bool
    }

    /// Handles the losses below `poweredOn` (SPEC 2.3). Connection attempts continue.
    /// - Returns: the links whose end the app must learn after the state: those that a reset ended. When Bluetooth is
    ///   off, the state says it all.
    mutating func fall(to state: ManagerState, into effects: inout ManagerEffects) -> [LostLink] {
        scan = nil
        effects.commands.forget(client)
        var lost: [LostLink] = []
        for identifier in peripherals.keys {
            guard let session = peripherals[identifier] else { continue }
            // The app knows that what it had discovered of the peripheral is no longer valid.
            peripherals[identifier]?.forgetDatabase()
            guard let link = session.link else { continue }
            // After a reset there is no link any more.
            if state != .resetting { effects.submit(.link(link, .disconnect), from: client) }
            let isReconnecting = state == .resetting && session.options.reconnectsAutomatically
            if isReconnecting { peripherals[identifier]?.wait() } else { peripherals[identifier] = nil }
            guard state == .resetting else { continue }
            lost.append(LostLink(peripheral: identifier, isReconnecting: isReconnecting))
        }
        return lost
    }

    /// The devices to which this manager is connected, or whose link it waits to resume.
    var held: [PeerIdentifier] { peripherals.filter { $0.link != nil || $0.resumes }.map(\.identifier) }

    /// A preserved manager has lost a link, and connects again.
    /// - Parameter resumes: whether the app had the link when it ended.
    mutating func loseLink(of identifier: PeerIdentifier, resumes: Bool, into effects: inout ManagerEffects) {
        // An attempt to resume an earlier one goes on.
        guard let link = peripherals[identifier]?.link else { return }
        effects.submit(.link(link, .disconnect), from: client)
        effects.commands.forget(client, on: identifier)
        if resumes { peripherals[identifier]?.resume() } else { peripherals[identifier]?.wait() }
    }

    /// The process of an earlier connection continues. It knows that its scan and its links have ended.
    mutating func continueProcess(without links: [PeerIdentifier], into effects: inout ManagerEffects) {
        scan = nil
        for identifier in links { leave(identifier, into: &effects) }
    }

    /// Ends all activities of the manager.
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

    /// The manager's process has ended; its activities continue.
    mutating func processEnded() {
        connectionEvents = nil
        found = []
    }

    // MARK: Peripherals

    /// The engine has completed a request to a peripheral.
    mutating func ended(
        _ task: PeripheralTask, of identifier: PeerIdentifier, _ result: Result<HostResult, HostFailure>,
        into effects: inout ManagerEffects
    ) {
        if case .openChannel(let psm) = task, case .success(let result) = result {
            guard peripherals[identifier]?.link != nil else { return }
            peripherals[identifier]?.channelOpened(psm: psm)
            return HostAnswer.channel.pass(result) {
                channels.opened($0, psm: psm, by: identifier, into: &effects)
            }
        }
        peripherals[identifier]?.ended(task, result, into: &effects)
    }

    /// The peripheral sent a notification or an indication.
    func notified(
        _ notification: GATTNotification, on link: LinkID, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        // The oldest session on the link, where it is.
        let place = peripherals.keys.indices.first { place in
            peripherals.withValue(at: place) { $0.link == link } ?? false
        }
        guard let place else { return }
        _ = peripherals.withValue(at: place) {
            $0.received(
                notification.value, of: notification.handle, isPreserved: permissions.isPreserved, into: &effects)
        }
    }

    /// Whether the app wants to alert its user of this.
    func asks(for kind: Alert.Kind, at address: DeviceAddress) -> Bool {
        peripherals.keys.indices.contains { place in
            peripherals.withValue(at: place) { $0.address == address && $0.options.asks(for: kind) } ?? false
        }
    }

    /// Changes every session on a link.
    mutating func forEachSession(on link: LinkID, _ body: (inout PeripheralSession) -> Void) {
        for identifier in peripherals.keys where peripherals[identifier]?.link == link {
            peripherals.change(identifier, body)
        }
    }

    /// The identity of a private address is now known.
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
                identifier: $0.identifier, address: $0.address, options: $0.options,
                isConnected: $0.link != nil || $0.resumes, services: $0.database.services)
        }
    }

    /// The state that the app receives when it is launched again (SPEC SPR-10, SPR-12).
    func restored(_ kept: PreservedManager, name: (DeviceAddress) -> String?) -> RestoredCentral {
        let restored = kept.peripherals.map { peripheral in
            let mtu = peripherals[peripheral.identifier]?.attMTU ?? 23
            let state = state(of: peripheral)
            var services = peripheral.services
            if state == .disconnected { services = services?.map(\.withoutSubscriptions) }
            return RestoredRemotePeripheral(
                description: PeripheralDescription(
                    identifier: peripheral.identifier, name: name(peripheral.address), state: state),
                services: services, writeLimits: WriteLimits(withResponse: 512, withoutResponse: mtu - 3))
        }
        return RestoredCentral(peripherals: restored, scan: kept.scan)
    }

    /// The state at the end of the process, unless the system has lost the link since. What peers have done since
    /// follows as events.
    private func state(of kept: PreservedManager.Peripheral) -> PeripheralState {
        if kept.isOver == true { return .disconnected }
        return kept.isConnected && peripherals[kept.identifier]?.resumes != true ? .connected : .connecting
    }
}
