import BLEHost
import BLEPackets

/// The engine's events about devices and links, and the managers that receive them (SPEC 2.3, 2.4, 5.5 rule 5).
extension AppLifecycle {
    // MARK: Devices

    func describe(_ identifier: PeerIdentifier, at address: DeviceAddress, _ client: ClientID) -> PeripheralDescription?
    {
        managers.withValue(of: client) { $0.central?.describe(identifier, name: directory.name(of: address)) } ?? nil
    }

    mutating func identify(_ address: DeviceAddress, app: Int) -> PeerIdentifier {
        let (identifier, isNew) = directory.identify(address, app: app, into: &effects)
        if isNew { forgetOldest() }
        return identifier
    }

    mutating func keepIdentity(_ identifier: PeerIdentifier, app: Int) {
        if directory.keep(identifier, app: app, into: &effects) { forgetOldest() }
    }

    /// The maximum number of devices that are checked at a time whether they can be forgotten.
    private static let forgettingTries = 64

    mutating func forgetOldest() {
        for _ in 0..<Self.forgettingTries {
            guard let device = directory.nextToForget() else { return }
            if isHeld(device) { directory.spare(device.address) } else { directory.forget(device.address) }
        }
    }

    /// Whether a device is in use, whichever app uses it.
    private func isHeld(_ device: RememberedDevices.Device) -> Bool {
        if directory.isBonded(device.address) || links.links.contains(where: { $0.address == device.address }) {
            return true
        }
        return managers.keys.contains { client in
            managers.withValue(of: client) { manager in
                device.names.contains { $0.app == manager.app && manager.refers(to: $0.identifier) }
            } ?? false
        }
    }

    /// One packet, and what all who scan get of it.
    private struct Sighting {
        let discovery: Discovery
        let address: DeviceAddress
        var name: String?
        /// `nil` until somebody wants it.
        var content: AdvertisementContent?
        var octets = 0
        var recipients: [SharedDiscovery.Recipient] = []
        /// Where the next manager is likely to be.
        var place = 0
    }

    /// There may be thousands of these a second, each for many apps.
    mutating func discovered(_ discovery: Discovery) {
        guard let address = discovery.address else { return }
        var sighting = Sighting(discovery: discovery, address: address)
        tell(&sighting, discovery.client, discovery.scan)
        if !discovery.others.isEmpty {
            sighting.recipients.reserveCapacity(1 + discovery.others.count)
            for other in discovery.others { tell(&sighting, other.client, other.scan) }
        }
        guard !sighting.recipients.isEmpty, let content = sighting.content else { return }
        emit(.discovered(SharedDiscovery(sighting.name, content, rssi: discovery.rssi, for: sighting.recipients)))
    }

    /// Tells one who scans of a device.
    private mutating func tell(_ sighting: inout Sighting, _ client: ClientID, _ scan: OperationID) {
        guard let place = managers.place(of: client, near: sighting.place) else { return }
        sighting.place = place + 1
        var scanning: Int?
        // Reading a manager copies it; changing it does not.
        managers.change(at: place) { manager in
            if manager.central?.runningScan?.operation == scan { scanning = manager.app }
        }
        guard let app = scanning else { return }
        if sighting.content == nil { parse(&sighting) }
        let identifier = identify(sighting.address, app: app)
        let hears = apps[app].hears(.central)
        let isBehind = !apps[app].isInForeground
        var id: ManagerID?
        var mayHold = false
        var isNew = true
        var state = PeripheralState.disconnected
        let octets = sighting.octets
        managers.change(at: place) { manager in
            // Most managers that discover thousands of devices use none.
            let usesSome = manager.central?.peripherals.isEmpty == false
            if usesSome, let known = manager.central?.state(of: identifier) { state = known }
            if isBehind { isNew = manager.central?.noteFound(identifier) ?? true }
            let mayTake = hears && manager.queue.isEmpty && manager.hasRoom
            if mayTake, let own = manager.id {
                manager.take(octets: octets)
                id = own
            }
            mayHold = id == nil || manager.mayHoldIndications
        }
        if isBehind, id != nil { apps[app].took(at: now, settings) }
        if let id, !sighting.discovery.others.isEmpty, latestReport.isSameForAll {
            sighting.recipients.append(
                SharedDiscovery.Recipient(app: apps[app].id, manager: id, identifier: identifier, state: state))
        } else {
            let services = managers.withValue(at: place) { $0.central?.scannedServices } ?? nil
            let event = ClientEvent.discovered(
                PeripheralDescription(identifier: identifier, name: sighting.name, state: state),
                latestReport.content(scannedFor: services), rssi: sighting.discovery.rssi)
            // Behind, what a device changes in its advertisement waits with its other discoveries (SPEC BGC-3).
            if let id {
                emit(.event(event, to: id, of: apps[app].id))
            } else {
                deliver(event, to: client, wakes: isNew)
            }
        }
        // Only this manager's place has changed.
        if mayHold { holdIndications(of: client) }
    }

    private mutating func parse(_ sighting: inout Sighting) {
        if latestReport.take(sighting.discovery), let name = latestReport.localName {
            directory.setAdvertisedName(name, of: sighting.address)
        }
        let content = latestReport.content(scannedFor: nil)
        sighting.content = content
        sighting.octets = ClientEvent.approximateOctets(ofDiscovery: content)
        sighting.name = directory.name(of: sighting.address)
    }

    mutating func identityFound(_ identity: DeviceAddress, behind address: DeviceAddress) {
        directory.rebind(address, to: identity, into: &effects)
        for client in managers.keys {
            managers[client]?.central?.rename(address, to: identity)
            managers[client]?.peripheral?.rename(address, to: identity)
        }
        links.rename(address, to: identity)
        effects.needsJournal = true
    }

    /// Learns the bonds of the engine: apps keep their identifiers of these devices.
    public mutating func restored(_ bonds: [Bond]) {
        for bond in bonds { directory.bondChanged(bond.identity) }
    }

    // MARK: Links

    /// The peer of a link and the app's description of it, for pairing questions.
    public mutating func peer(of link: LinkID, for app: AppID) -> (DeviceAddress, PeripheralDescription)? {
        guard let address = links[link]?.address else { return nil }
        let identifier = identify(address, app: known(app))
        return (
            address,
            PeripheralDescription(identifier: identifier, name: directory.name(of: address), state: .connected)
        )
    }

    /// The apps that use a link: those that are connected through it, or, if a central established it, those that
    /// publish services. In the order in which they were declared or launched.
    public func apps(on link: LinkID) -> [AppID] {
        let isCentrals = links[link]?.role == .peripheral
        return apps.indices.filter { app in
            managers.contains { manager in
                guard manager.app == app, manager.id != nil else { return false }
                return isCentrals ? manager.peripheral != nil : manager.central?.session(on: link) != nil
            }
        }.map { apps[$0].id }
    }

    /// A link is usable, or another manager uses it, too.
    mutating func note(_ information: LinkInformation) {
        guard links[information.id] == nil else { return }
        let watched = settings.learnsPeers && information.role == .central ? watchedServices : nil
        links.note(information, watched: watched, into: &effects)
        settle()
    }

    /// The services of registered connection events, each once, in the order in which managers were created.
    private var watchedServices: [BluetoothUUID] {
        var watched: [BluetoothUUID] = []
        // Only for lookup, never iterated.
        var known: Set<BluetoothUUID> = []
        for manager in managers {
            for service in manager.central?.connectionEvents?.services ?? [] where known.insert(service).inserted {
                watched.append(service)
            }
        }
        return watched
    }

    mutating func connected(_ information: LinkInformation, _ client: ClientID) {
        guard !isForeign(client) else { return }
        note(information)
        let name = directory.name(of: information.peer)
        let isKnown = withCentral(client) { $0.connected(information, name: name, $1, into: &$2) } != nil
        if !isKnown {
            effects.submit(.link(information.id, .disconnect), from: client)
            settle()
        }
        announceConnection(information.id)
    }

    mutating func connectEnded(
        _ token: CommandToken, _ client: ClientID, _ peer: PeerIdentifier, _ result: Result<LinkID, HostFailure>
    ) {
        let now = now
        switch result {
        case .success(let link):
            guard let shared = links[link] else { return }
            let name = directory.name(of: shared.address)
            withCentral(client) {
                $0.connectedUnderAnotherName(link, of: shared, as: peer, token, name: name, into: &$2)
            }
        case .failure(let failure):
            withCentral(client) { $0.connectionFailed(peer, token, failure, at: now, into: &$2) }
        }
    }

    /// A link has ended for a manager that used it.
    mutating func disconnected(_ link: LinkID, _ client: ClientID, _ reason: DisconnectionReason) {
        if reason != .releasedByClient { endSessions(on: link, of: client, reason) }
        let isHeld = links[link]?.role == .peripheral || managers.contains { $0.central?.session(on: link) != nil }
        if !isHeld { forget(link) }
    }

    private mutating func endSessions(on link: LinkID, of client: ClientID, _ reason: DisconnectionReason) {
        let now = now
        // If the app has two identifiers of the device, there are several sessions.
        while let session = managers[client]?.central?.session(on: link) {
            if managers[client]?.id != nil { raiseAlert(.disconnection, session.address) }
            withCentral(client) { $0.lost(link, reason, $1, at: now, into: &$2) }
        }
    }

    /// A device lacks the keys of its bond: no app receives anything from it or continues to use it.
    mutating func peerLostKeys(_ link: LinkID) {
        guard links[link]?.role == .central else { return }
        for client in managers.keys where managers[client]?.central?.session(on: link) != nil {
            endSessions(on: link, of: client, .controller(.pinOrKeyMissing))
            effects.submit(.link(link, .disconnect), from: client)
            settle()
        }
    }

    /// The link has ended for all apps.
    mutating func forget(_ link: LinkID) {
        guard let gone = links.remove(link) else { return }
        for client in gone.observers {
            guard let manager = managers[client], manager.central?.connectionEvents != nil else { continue }
            tellConnection(gone, isConnected: false, manager)
        }
    }

    mutating func mtuChanged(_ mtu: Int, on link: LinkID) {
        guard links[link] != nil else { return }
        links.setMTU(mtu, of: link)
        forEachSession(on: link) { $0.mtuChanged(mtu, into: &$1) }
    }

    mutating func notified(_ notification: GATTNotification, on link: LinkID) {
        if notification.clients.contains(.system), links[link]?.serviceChanged == notification.handle {
            servicesChanged(notification.changedHandles, on: link)
        }
        for client in notification.clients {
            withCentral(client) { $0.notified(notification, on: link, $1, into: &$2) }
        }
    }

    private mutating func servicesChanged(_ handles: AttributeHandleRange, on link: LinkID) {
        let (first, last) = (handles.first.rawValue, handles.last.rawValue)
        forEachSession(on: link) { $0.servicesChanged(from: first, to: last, into: &$1) }
    }

    /// A device has refused a request because its services have changed. It refuses only one of its client's requests
    /// (Core 5.4, Vol 3, Part G, 2.5.2.1), and all apps are the same client.
    mutating func refusedOutOfSync(_ client: ClientID, _ peer: PeerIdentifier) {
        guard let link = managers[client]?.central?.link(of: peer) else { return }
        servicesChanged(.all, on: link)
    }

    // MARK: What is learned

    mutating func learned(_ step: LearningStep, _ result: GATTResult, on link: LinkID) {
        let isBonded = links[link].map { directory.isBonded($0.address) } ?? false
        let finding = links.learned(step, result, on: link, isBonded: isBonded, into: &effects)
        settle()
        switch finding {
        case .name(let name):
            guard let address = links[link]?.address, directory.setDeviceName(name, of: address) else { return }
            forEachSession(on: link) { $0.nameChanged(name, into: &$1) }
        case .services(let uuids): noteServices(uuids, on: link)
        case nil: break
        }
    }

    mutating func noteServices(_ uuids: [BluetoothUUID], on link: LinkID) {
        links.noteServices(uuids, on: link)
        announceConnection(link)
    }

    /// Reports a connection once to each manager that registered for it, whichever app connected (SPEC 2.3
    /// registerForConnectionEvents).
    private mutating func announceConnection(_ link: LinkID) {
        for client in managers.keys {
            guard let shared = links[link], let manager = managers[client],
                let watch = manager.central?.connectionEvents, !shared.observers.contains(client)
            else { continue }
            let identifier = directory.identifier(of: shared.address, app: manager.app)
            let isNamed = identifier.map { watch.peripherals.contains($0) } ?? false
            guard isNamed || watch.services.contains(where: { shared.services.contains($0) }) else { continue }
            links.addObserver(client, of: link)
            tellConnection(shared, isConnected: true, manager)
        }
    }

    private mutating func tellConnection(_ link: SharedLink, isConnected: Bool, _ manager: Manager) {
        let identifier = identify(link.address, app: manager.app)
        guard let peripheral = describe(identifier, at: link.address, manager.client) else { return }
        deliver(.connectionEvent(peripheral, isConnected: isConnected), to: manager.client)
    }

    // MARK: Remote centrals

    private mutating func describe(_ link: LinkID, app: Int) -> CentralDescription? {
        guard let shared = links[link] else { return nil }
        return CentralDescription(
            identifier: identify(shared.address, app: app), maximumUpdateLength: shared.attMTU - 3)
    }

    mutating func published(
        _ service: LocalAttributeID, _ client: ClientID, _ result: Result<GATTPublishedService, HostFailure>
    ) {
        let isTaken = withPeripheral(client) { $0.published(service, result, $1, into: &$2) } != nil
        guard !isTaken, case .success(let service) = result else { return }
        effects.submit(.server(.removeService(service.range.first)), from: client)
        settle()
    }

    mutating func served(_ event: GATTServerEvent) {
        switch event {
        case .read(let request):
            guard let manager = managers[request.owner],
                manager.peripheral?.characteristic(with: request.handle) != nil,
                let central = describe(request.link, app: manager.app)
            else { return refuse(request.id, of: request.owner) }
            if isCrowded(manager) { return refuse(request.id, .insufficientResources) }
            withPeripheral(request.owner) { $0.read(request, by: central, into: &$2) }
        case .write(let request):
            guard let manager = managers[request.owner], manager.peripheral != nil,
                let central = describe(request.link, app: manager.app)
            else { return refuse(request.id, of: request.owner) }
            if isCrowded(manager) {
                if !request.needsAnswer { managers[request.owner]?.queue.noteLost() }
                return refuse(request.id, .insufficientResources)
            }
            withPeripheral(request.owner) { $0.written(request, by: central, into: &$2) }
        case .subscribed(let subscription):
            guard let manager = managers[subscription.owner], manager.peripheral?.isNew(subscription) == true,
                let address = links[subscription.link]?.address
            else { return }
            let central = identify(address, app: manager.app)
            withPeripheral(subscription.owner) { $0.subscribed(subscription, by: central, at: address, into: &$2) }
        case .unsubscribed(let subscription):
            guard let manager = managers[subscription.owner], let known = manager.peripheral?.known(subscription)
            else { return }
            let central = identify(known.address, app: manager.app)
            withPeripheral(subscription.owner) { $0.unsubscribed(known, by: central, into: &$2) }
        case .readyToUpdate: forEachPeripheral { $0.readyToUpdate(into: &$2) }
        case .requestExpired(let id, _):
            for client in managers.keys where withPeripheral(client, { $0.expired(id, into: &$2) }) == true {
                managers[client]?.queue.removeAll { $0.question == id }
            }
        case .stored, .confirmed, .fellBehind: break
        }
    }

    /// Rejects a request that no app answers, unless its service belongs to a client that is not an app.
    private mutating func refuse(_ id: GATTRequestID, of owner: ClientID) {
        if !isForeign(owner) { refuse(id) }
    }

    private mutating func refuse(_ id: GATTRequestID, _ error: ATTError = .unlikelyError) {
        effects.submit(.server(.respond(id, .failure(error))), from: .system)
        settle()
    }

    // MARK: Channels

    mutating func listening(_ result: Result<UInt16, HostFailure>, _ client: ClientID) {
        guard managers[client] == nil else {
            return withChannels(client) { $0.listening(result, into: &$1) }
        }
        guard case .success(let spsm) = result else { return }
        effects.submit(.channel(.stopListening(spsm: spsm)), from: client)
        settle()
    }

    mutating func received(_ event: ChannelEvent) {
        switch event {
        case .opened(let information, let client):
            guard !isForeign(client) else { return }
            guard let manager = managers[client], !isCrowded(manager),
                let central = describe(information.id.link, app: manager.app)
            else {
                effects.submit(.channel(.close(information.id)), from: client)
                return settle()
            }
            withChannels(client) { $0.accepted(information, from: central, into: &$1) }
        // Apps are not told about the sizes of a channel.
        case .reconfigured: break
        case .received(let channel, let octets):
            guard let client = owner(of: channel) else { return }
            withChannels(client) { $0.received(octets, on: channel, into: &$1) }
        case .closed(let channel, let end):
            guard let client = owner(of: channel) else { return }
            withChannels(client) { $0.closed(channel, end, into: &$1) }
        }
    }

    private func owner(of channel: ChannelID) -> ClientID? {
        managers.first { $0.channels?[channel] != nil }?.client
    }
}
