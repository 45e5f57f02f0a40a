import BLEHost
import BLEPackets

/// Links, and the managers that use them.
extension Peers {
    /// The peer of a link and the app's description of it.
    mutating func peer(
        of link: LinkID, for app: AppID, _ runtime: inout AppRuntime
    ) -> (DeviceAddress, PeripheralDescription)? {
        guard let address = links[link]?.address else { return nil }
        let identifier = identify(address, app: known(app, &runtime), &runtime)
        return (
            address,
            PeripheralDescription(identifier: identifier, name: directory.name(of: address), state: .connected)
        )
    }

    /// The apps that use a link.
    func apps(on link: LinkID, _ runtime: AppRuntime) -> [AppID] {
        let isCentrals = links[link]?.role == .peripheral
        return runtime.apps.indices.filter { app in
            runtime.managers.contains { manager in
                guard manager.app == app, manager.id != nil else { return false }
                return isCentrals ? manager.kind == .peripheral : manager.central?.state.session(on: link) != nil
            }
        }.map { runtime.apps[$0].id }
    }

    /// A link is usable, or another manager uses it, too.
    mutating func record(_ information: LinkInformation, _ runtime: inout AppRuntime) {
        guard links[information.id] == nil else { return }
        let learns = runtime.settings.learnsPeers && information.role == .central
        let watched = learns ? runtime.managers.watchedServices : nil
        links.record(information, watched: watched, into: &runtime.effects)
    }

    mutating func connected(_ information: LinkInformation, _ client: ClientID, _ runtime: inout AppRuntime) {
        guard !runtime.isForeign(client) else { return }
        record(information, &runtime)
        let name = directory.name(of: information.peer)
        let isKnown = runtime.withCentral(client) { $0.connected(information, name: name, $1, into: &$2) } != nil
        if !isKnown { runtime.submit(.link(information.id, .disconnect), from: client) }
        announceConnection(information.id, &runtime)
    }

    mutating func connectEnded(
        _ token: CommandToken, _ client: ClientID, _ peer: PeerIdentifier, _ result: Result<LinkID, HostFailure>,
        _ runtime: inout AppRuntime
    ) {
        switch result {
        case .success(let link):
            guard let shared = links[link] else { return }
            let name = directory.name(of: shared.address)
            runtime.withCentral(client) {
                $0.connectedUnderAnotherName(link, of: shared, as: peer, token, name: name, into: &$2)
            }
        case .failure(let failure):
            runtime.withCentral(client) { $0.connectionFailed(peer, token, failure, into: &$2) }
        }
    }

    /// A link has ended for a manager that used it.
    mutating func disconnected(
        _ link: LinkID, _ client: ClientID, _ reason: DisconnectionReason, _ runtime: inout AppRuntime
    ) {
        if reason != .releasedByClient { endSessions(on: link, of: client, reason, &runtime) }
        let isHeld =
            links[link]?.role == .peripheral || runtime.managers.contains { $0.central?.state.session(on: link) != nil }
        if !isHeld { forget(link, &runtime) }
    }

    private mutating func endSessions(
        on link: LinkID, of client: ClientID, _ reason: DisconnectionReason, _ runtime: inout AppRuntime
    ) {
        // If the app has two identifiers of the device, there are several sessions.
        while let session = runtime.managers[client]?.central?.state.session(on: link) {
            if runtime.managers[client]?.id != nil { runtime.raise(.disconnection, at: session.address, &directory) }
            runtime.withCentral(client) { $0.lost(link, reason, $1, into: &$2) }
        }
    }

    /// A device lacks the keys of its bond: no app receives anything from it or continues to use it.
    mutating func lostKeys(_ link: LinkID, _ runtime: inout AppRuntime) {
        guard links[link]?.role == .central else { return }
        for client in runtime.managers.keys where runtime.managers[client]?.central?.state.session(on: link) != nil {
            endSessions(on: link, of: client, .controller(.pinOrKeyMissing), &runtime)
            runtime.submit(.link(link, .disconnect), from: client)
        }
    }

    /// A central's link has ended.
    mutating func centralGone(_ link: LinkID, _ runtime: inout AppRuntime) {
        runtime.forEachPeripheral { manager, _, _ in manager.centralGone(link) }
        forget(link, &runtime)
    }

    func disconnectCentrals(_ runtime: inout AppRuntime) {
        for link in links.links where link.role == .peripheral {
            runtime.submit(.link(link.id, .disconnect), from: .system)
        }
    }

    /// The link has ended for all apps.
    private mutating func forget(_ link: LinkID, _ runtime: inout AppRuntime) {
        guard let gone = links.remove(link) else { return }
        for client in gone.observers {
            guard let manager = runtime.managers[client], manager.central?.state.connectionEvents != nil else {
                continue
            }
            deliverConnection(gone, isConnected: false, manager, &runtime)
        }
    }

    mutating func received(_ event: GATTClientEvent, on link: LinkID, _ runtime: inout AppRuntime) {
        switch event {
        case .notification(let notification): notified(notification, on: link, &runtime)
        case .mtuChanged(let mtu):
            guard links[link] != nil else { return }
            links.setMTU(Int(mtu), of: link)
            runtime.forEachSession(on: link) { $0.mtuChanged(Int(mtu), into: &$1) }
        case .writeCommandsFull: runtime.forEachSession(on: link) { $0.setTakesWriteCommands(false, into: &$1) }
        case .writeCommandsReady: runtime.forEachSession(on: link) { $0.setTakesWriteCommands(true, into: &$1) }
        default: break
        }
    }

    private func notified(_ notification: GATTNotification, on link: LinkID, _ runtime: inout AppRuntime) {
        if notification.clients.contains(.system), links[link]?.serviceChanged == notification.handle {
            servicesChanged(notification.changedHandles, on: link, &runtime)
        }
        for client in notification.clients {
            runtime.withCentral(client) { $0.notified(notification, on: link, $1, into: &$2) }
        }
    }

    private func servicesChanged(_ handles: AttributeHandleRange, on link: LinkID, _ runtime: inout AppRuntime) {
        let (first, last) = (handles.first.rawValue, handles.last.rawValue)
        runtime.forEachSession(on: link) { $0.servicesChanged(from: first, to: last, into: &$1) }
    }

    /// A request to a peripheral has ended.
    mutating func ended(
        _ task: PeripheralTask, of peer: PeerIdentifier, _ client: ClientID, _ result: Result<HostResult, HostFailure>,
        _ runtime: inout AppRuntime
    ) {
        let link = runtime.managers[client]?.central?.state.link(of: peer)
        if case .discoverServices = task, case .success(.gatt(.services(let found))) = result, let link {
            recordServices(found.map(\.uuid), on: link, &runtime)
        }
        runtime.endsRequest = true
        runtime.withCentral(client) { $0.ended(task, of: peer, result, into: &$2) }
        runtime.endsRequest = false
        // A device refuses only one of its client's requests because its services have changed (Core 5.4, Vol 3, Part
        // G, 2.5.2.1), and all apps are the same client.
        if case .failure(.gatt(.att(.databaseOutOfSync, _))) = result, let link {
            servicesChanged(.all, on: link, &runtime)
        }
    }

    // MARK: What is learned

    mutating func learned(_ step: LearningStep, _ result: GATTResult, on link: LinkID, _ runtime: inout AppRuntime) {
        let isBonded = links[link].map { directory.isBonded($0.address) } ?? false
        switch links.learned(step, result, on: link, isBonded: isBonded, into: &runtime.effects) {
        case .name(let name):
            guard let address = links[link]?.address, directory.setDeviceName(name, of: address) else { return }
            runtime.forEachSession(on: link) { $0.nameChanged(name, into: &$1) }
        case .services(let uuids): recordServices(uuids, on: link, &runtime)
        case nil: break
        }
    }

    private mutating func recordServices(_ uuids: [BluetoothUUID], on link: LinkID, _ runtime: inout AppRuntime) {
        links.recordServices(uuids, on: link)
        announceConnection(link, &runtime)
    }

    /// Reports a connection once to each manager that registered for it, whichever app connected (SPEC 2.3
    /// registerForConnectionEvents).
    private mutating func announceConnection(_ link: LinkID, _ runtime: inout AppRuntime) {
        for client in runtime.managers.keys {
            guard let shared = links[link], let manager = runtime.managers[client],
                let watch = manager.central?.state.connectionEvents, !shared.observers.contains(client)
            else { continue }
            let identifier = directory.identifier(of: shared.address, app: manager.app)
            let isNamed = identifier.map { watch.peripherals.contains($0) } ?? false
            guard isNamed || watch.services.contains(where: { shared.services.contains($0) }) else { continue }
            links.addObserver(client, of: link)
            deliverConnection(shared, isConnected: true, manager, &runtime)
        }
    }

    private mutating func deliverConnection(
        _ link: SharedLink, isConnected: Bool, _ manager: Manager, _ runtime: inout AppRuntime
    ) {
        let identifier = identify(link.address, app: manager.app, &runtime)
        guard let peripheral = describe(identifier, at: link.address, manager.client, runtime) else { return }
        runtime.deliver(.connectionEvent(peripheral, isConnected: isConnected), to: manager.client)
    }
}
