import BLEHost
import BLEPackets

/// The state of Bluetooth as managers know it, what they may do, and alerts for users.
extension AppRuntime {
    func state(_ app: Int) -> ManagerState {
        bluetooth.state(isAllowed: apps[app].manifest.authorization == .allowedAlways)
    }

    /// What a manager may do now.
    func permissions(of client: ClientID) -> ManagerPermissions? {
        managers.withValue(of: client) { manager in
            let app = manager.app
            let place: ManagerPermissions.Place =
                manager.id == nil
                ? .preserved
                : apps[app].isInForeground ? .foreground : .background(hasMode: apps[app].hasMode(manager.kind))
            let overflow = OverflowSetting.emission(
                system: settings.overflow, manifest: apps[app].manifest.overflow, app: manager.options.overflow ?? .on)
            return ManagerPermissions(
                state: state(app), place: place, isAdvertising: bluetooth.isAdvertising, overflow: overflow)
        }
    }

    mutating func deliverState(_ client: ClientID) {
        guard let manager = managers[client], manager.id != nil else { return }
        let state = state(manager.app)
        // The first state that is reported is never unknown.
        guard state != manager.reportedState, state != .unknown || manager.reportedState != nil else { return }
        managers[client]?.reportedState = state
        deliver(.stateChanged(state, apps[manager.app].manifest.authorization), to: client)
    }

    mutating func controllerChanged(to state: BluetoothState.ControllerState, _ directory: inout PeerDirectory) {
        bluetooth.controller = state
        stateChanged(&directory)
    }

    /// The state of the controller or of the Bluetooth switch, or what an app may do, has changed.
    mutating func stateChanged(_ directory: inout PeerDirectory) {
        for client in managers.keys {
            guard let app = managers[client]?.app else { continue }
            let state = state(app)
            var lost: [CentralManager.LostLink] = []
            if state != .unknown, state < .poweredOn {
                if state == .resetting { alertOfLinks(client, &directory) }
                let isByUser = state == .unauthorized || state == .poweredOff && apps[app].onlyUserMayLaunch
                lost = managers[client]?.fall(to: state, isByUser: isByUser, into: &effects) ?? []
            }
            settle()
            converge(client)
            deliverState(client)
            for link in lost { deliver(link, to: client) }
        }
    }

    /// The links of a manager end with a reset.
    private mutating func alertOfLinks(_ client: ClientID, _ directory: inout PeerDirectory) {
        guard let manager = managers[client], manager.id != nil, let central = manager.central?.state else { return }
        for session in central.peripherals where session.link != nil {
            raise(.disconnection, at: session.address, &directory)
        }
    }

    /// A reset has ended a link: the app gets the event once it knows of the reset (SPEC 2.3
    /// didDisconnectPeripheral).
    private mutating func deliver(_ lost: CentralManager.LostLink, to client: ClientID) {
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

    // MARK: Alerts

    /// Something happened at a peripheral about which some apps want to alert their users. Of each user's apps, one
    /// shows the alert: the one that was in the foreground last, unless it receives the event itself (SPEC ALR-1 to
    /// ALR-5).
    mutating func raise(_ kind: Alert.Kind, at address: DeviceAddress, _ directory: inout PeerDirectory) {
        // Few apps ask for alerts, and values may come thousands of times a second.
        let isWanted = managers.keys.indices.contains { place in
            managers.withValue(at: place) { $0.id != nil && $0.central?.state.asks(for: kind, at: address) == true }
                ?? false
        }
        guard isWanted else { return }
        // Of one app for each user, in the order of the managers.
        var best: [(app: Int, user: UInt32, peripheral: PeripheralDescription, foreground: UInt64)] = []
        for manager in managers where manager.id != nil {
            guard let central = manager.central?.state else { continue }
            for session in central.peripherals where session.address == address && session.options.asks(for: kind) {
                let (user, foreground) = (apps[manager.app].manifest.user, apps[manager.app].lastForeground)
                let place = best.firstIndex { $0.user == user }
                if let place, foreground <= best[place].foreground { continue }
                let peripheral = central.describe(session.identifier, name: directory.name(of: address))
                let next = (manager.app, user, peripheral, foreground)
                if let place { best[place] = next } else { best.append(next) }
            }
        }
        for (app, _, peripheral, _) in best where !apps[app].isInForeground && !apps[app].hasMode(.central) {
            raise(kind, app, peripheral)
        }
    }

    mutating func raise(_ kind: Alert.Kind, _ app: Int, _ peripheral: PeripheralDescription? = nil) {
        if let alert = alerts.raise(kind, for: apps[app].id, at: peripheral) { effects.emit(.alert(alert)) }
    }

    mutating func withdrawAlerts(of app: Int) {
        for id in alerts.withdraw(apps[app].id) { effects.emit(.alertWithdrawn(id)) }
    }
}

extension ConnectOptions {
    /// Whether the app wants to alert the user.
    func asks(for kind: Alert.Kind) -> Bool {
        switch kind {
        case .connection: notifiesOnConnection
        case .disconnection: notifiesOnDisconnection
        case .notification: notifiesOnNotification
        case .powerOff: false
        }
    }
}
