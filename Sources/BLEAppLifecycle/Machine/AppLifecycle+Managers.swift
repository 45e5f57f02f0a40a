import BLEHost
import BLEPackets

/// Managers: creation, restoration, requests, release, and their states (SPEC CEN-1 to CEN-3, PER-1, SPR-1 to SPR-12).
extension AppLifecycle {
    /// Handles a request of a manager.
    public mutating func receive(_ request: ClientRequest, from manager: ManagerID, of id: AppID, at now: Instant) {
        self.now = now
        let app = known(id)
        switch request {
        case .createCentral(let options): create(.central, options, manager, app)
        case .createPeripheral(let options): create(.peripheral, options, manager, app)
        case .release: withManager(manager, app) { $0.drop($1) }
        case .central(let request):
            withManager(manager, app, .central) { apps, client in
                if !apps.refuse(request, client, app) { apps.perform(request, client, app) }
            }
        case .peripheral(let request):
            withManager(manager, app, .peripheral) { apps, client in
                if apps.refuse(request, client, app) { return }
                let links = apps.links(namedIn: request, app)
                apps.withPeripheral(client) { $0.perform(request, to: links, $1, into: &$2) }
            }
        case .channel(let channel, let request):
            withManager(manager, app) { apps, client in
                if apps.refuse(request, on: channel, client, app) { return }
                apps.withChannels(client) { $0.perform(request, on: channel, into: &$1) }
            }
        }
        finish()
    }

    /// The clients of the engine that are managers of an app, in the order of their creation.
    public func clients(of id: AppID) -> [ClientID] {
        guard let app = app(id) else { return [] }
        return managers.filter { $0.app == app }.map(\.client)
    }

    /// Finds the manager of a request; logs an error if it does not exist or has another role.
    private mutating func withManager(
        _ manager: ManagerID, _ app: Int, _ role: ManagerRole? = nil, _ body: (inout Self, ClientID) -> Void
    ) {
        guard let client = client(of: manager, app), role == nil || managers[client]?.kind == role else {
            return log(.wrongManager, app)
        }
        body(&self, client)
    }

    private mutating func perform(_ request: CentralManagerRequest, _ client: ClientID, _ app: Int) {
        let isOn = state(app) == .poweredOn
        var peer: CentralManager.KnownPeer?
        switch request {
        // These need no Bluetooth.
        case .retrievePeripherals(let query, let identifiers):
            return deliver(.retrieved(query, known(identifiers, client, app)), to: client)
        case .retrieveConnectedPeripherals(let query, let services):
            return deliver(.retrieved(query, connected(with: services, client, app)), to: client)
        case .connect(let identifier, _):
            let mayConnect = isOn || state(app) == .resetting || state(app) == .poweredOff
            guard mayConnect, let address = directory.address(of: identifier, app: app) else { break }
            keepIdentity(identifier, app: app)
            peer = CentralManager.KnownPeer(address: address, name: directory.name(of: address))
        case .stopScan:
            if isOn { managers[client]?.queue.removeDiscoveries() }
        case .scan, .cancelConnection, .letGo, .registerForConnectionEvents, .peripheral: break
        }
        let now = now
        withCentral(client) { $0.perform(request, of: peer, $1, at: now, into: &$2) }
    }

    /// The devices with these identifiers that the app knows.
    private mutating func known(
        _ identifiers: [PeerIdentifier], _ client: ClientID, _ app: Int
    ) -> [PeripheralDescription] {
        var known: [PeripheralDescription] = []
        for identifier in identifiers {
            guard let address = directory.address(of: identifier, app: app) else { continue }
            keepIdentity(identifier, app: app)
            if let description = describe(identifier, at: address, client) { known.append(description) }
        }
        return known
    }

    private mutating func connected(
        with services: [BluetoothUUID], _ client: ClientID, _ app: Int
    ) -> [PeripheralDescription] {
        // Every peripheral has the Generic Access service (Core 5.4, Vol 3, Part C, 12), whether it was discovered or
        // not.
        let isForAll = services.contains(BluetoothUUID(UInt16(0x1800)))
        var found: [PeripheralDescription] = []
        for link in links.links
        where isForAll && link.role == .central || services.contains(where: { link.services.contains($0) }) {
            let identifier = identify(link.address, app: app)
            if let description = describe(identifier, at: link.address, client) { found.append(description) }
        }
        return found
    }

    /// The links of the centrals in a request.
    private func links(namedIn request: PeripheralManagerRequest, _ app: Int) -> [LinkID]? {
        switch request {
        case .updateValue(_, _, _, let centrals?):
            return links.links.filter { link in
                directory.identifier(of: link.address, app: app).map { centrals.contains($0) } ?? false
            }.map(\.id)
        case .setConnectionLatency(_, let central):
            guard let address = directory.address(of: central, app: app) else { return [] }
            return links.links.first { $0.address == address }.map { [$0.id] } ?? []
        case .updateValue(_, _, _, centrals: nil), .addService, .removeService, .removeAllServices, .startAdvertising,
            .stopAdvertising, .respond, .publishChannel, .unpublishChannel:
            return nil
        }
    }

    /// The engine's command by which an app's request would change a central's link; `nil`: none would.
    public func parameterUpdate(of request: ClientRequest, by id: AppID) -> HostCommand? {
        guard case .peripheral(.setConnectionLatency(let latency, let central)) = request, let app = app(id),
            let link = links(namedIn: .setConnectionLatency(latency, central: central), app)?.first
        else { return nil }
        return .link(link, .procedure(.updateParameters(latency.parameters)))
    }

    // MARK: Making

    private mutating func create(_ role: ManagerRole, _ options: ManagerOptions, _ id: ManagerID, _ app: Int) {
        guard client(of: id, app) == nil else { return log(.wrongManager, app) }
        if !apps[app].hasProcess { launched(apps[app].id, inForeground: true, at: now) }
        let identifier = restoreIdentifier(options, role, app)
        let kept = identifier.flatMap { identifier in managers.first { $0.isKept(app, role, identifier) }?.client }
        let client = kept ?? add(role, app, identifier)
        managers[client]?.id = id
        managers[client]?.options = options
        if kept != nil {
            if options.continues { continueProcess(client) } else { announceRestoration(client) }
        }
        tellState(client)
        if options.showsPowerAlert, managers[client]?.toldState == .poweredOff { raise(.powerOff, app) }
        converge(client)
        flush(app)
        // An app that counts as suspended but runs has created this manager to receive its waiting events.
        if managers[client]?.queue.isEmpty == false, apps[app].hasMode(role) { wake(app) }
    }

    /// The identifier under which a manager is preserved; `nil`, with a line in the log, if it cannot be preserved.
    private mutating func restoreIdentifier(_ options: ManagerOptions, _ role: ManagerRole, _ app: Int) -> String? {
        guard let identifier = options.restoreIdentifier else { return nil }
        guard apps[app].hasMode(role) else {
            log(.restorationWithoutBackgroundMode(role), app)
            return nil
        }
        let isTaken = managers.contains {
            $0.app == app && $0.kind == role && $0.restoreIdentifier == identifier && $0.id != nil
        }
        guard !isTaken else {
            log(.duplicateRestoreIdentifier(role, identifier), app)
            return nil
        }
        let isKept = managers.contains { $0.isKept(app, role, identifier) }
        guard
            isKept || managers.count(where: { $0.app == app && $0.restoreIdentifier != nil }) < settings.preservedOfApp
        else {
            log(.appLimitReached("managers with restore identifiers", limit: settings.preservedOfApp), app)
            return nil
        }
        return identifier
    }

    mutating func add(_ role: ManagerRole, _ app: Int, _ identifier: String?) -> ClientID {
        let client = nextClient()
        managers[client] = Manager(
            role, client: client, app: app, named: apps[app].id, restoreIdentifier: identifier,
            hiding: hiddenServices(for: app), settings: settings)
        return client
    }

    // MARK: State

    func state(_ app: Int) -> ManagerState {
        let isAllowed = apps[app].manifest.authorization == .allowedAlways
        return switch controller {
        case .failed: .unsupported
        // While Bluetooth is off, the controller may be released.
        case .starting where isPowered: .unknown
        case .resetting where isPowered: .resetting
        case .starting, .resetting, .ready: !isAllowed ? .unauthorized : isPowered ? .poweredOn : .poweredOff
        }
    }

    /// What a manager may do now.
    func standing(of client: ClientID) -> Standing? {
        guard let manager = managers[client] else { return nil }
        let app = apps[manager.app]
        let place: Standing.Place =
            manager.id == nil
            ? .preserved : app.isInForeground ? .foreground : .background(hasMode: app.hasMode(manager.kind))
        let overflow = OverflowSetting.emission(
            system: settings.overflow, manifest: app.manifest.overflow, app: manager.options.overflow ?? .on)
        return Standing(state: state(manager.app), place: place, isAdvertising: isAdvertising, overflow: overflow)
    }

    private mutating func tellState(_ client: ClientID) {
        guard let manager = managers[client], manager.id != nil else { return }
        let state = state(manager.app)
        // The first state that is reported is never unknown.
        guard state != manager.toldState, state != .unknown || manager.toldState != nil else { return }
        managers[client]?.toldState = state
        deliver(.stateChanged(state, apps[manager.app].manifest.authorization), to: client)
    }

    mutating func controllerChanged(to state: ControllerState) {
        controller = state
        stateChanged()
    }

    /// The state of the controller or of the Bluetooth switch, or what an app may do, has changed.
    mutating func stateChanged() {
        for client in managers.keys {
            guard let app = managers[client]?.app else { continue }
            let state = state(app)
            var lost: [CentralManager.LostLink] = []
            if state != .unknown, state < .poweredOn {
                if state == .resetting { alertOfLinks(client) }
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
    private mutating func alertOfLinks(_ client: ClientID) {
        guard let manager = managers[client], manager.id != nil, let central = manager.central else { return }
        for session in central.peripherals where session.link != nil { raiseAlert(.disconnection, session.address) }
    }

    /// A reset has ended a link: the app is told once it knows of the reset (SPEC 2.3
    /// didDisconnectPeripheral).
    private mutating func tell(_ lost: CentralManager.LostLink, to client: ClientID) {
        deliver(
            .disconnected(
                lost.peripheral, DisconnectionReason.controllerLost.clientError, microseconds: now.microseconds,
                isReconnecting: lost.isReconnecting), to: client)
    }

    /// Bluetooth was turned off or on. While it is off, the owner may release the controller; it is on when the
    /// controller can be used again.
    /// - Parameter byUser: whether the user has switched it, as in the settings: then events launch no app that did not
    ///   run at that time. After an interruption, such as airplane mode, they do (SPEC SPR-30).
    public mutating func setPower(_ isOn: Bool, byUser: Bool = true, at now: Instant) {
        self.now = now
        if byUser, !isOn || !isPowered { for index in apps.indices { apps[index].powerSwitched() } }
        guard isOn != isPowered else { return }
        isPowered = isOn
        if !isOn {
            for link in links.links where link.role == .peripheral {
                effects.submit(.link(link.id, .disconnect), from: .system)
            }
        }
        settle()
        stateChanged()
        finish()
    }

    // MARK: Ending

    /// Ends all activities of a manager and removes it.
    mutating func drop(_ client: ClientID) {
        guard let manager = managers[client] else { return }
        manager.drop(into: &effects)
        settle()
        if let journaled = manager.journaled {
            effects.write(
                .managerRemoved(journaled.app, journaled.role, restoreIdentifier: journaled.restoreIdentifier))
        }
        managers[client] = nil
    }
}
