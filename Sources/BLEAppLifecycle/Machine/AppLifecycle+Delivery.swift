import BLEHost
import BLEPackets

/// The delivery of events: at once, by waking the app, later, or by launching it (SPEC FGO-4, FGO-5, BGC-2, BGP-1,
/// SPR-5).
extension AppLifecycle {
    mutating func deliver(_ event: ClientEvent, to client: ClientID) {
        let found = managers.withValue(of: client) { manager in
            (manager.app, manager.id, manager.role, manager.hasRoom, manager.queue.isEmpty)
        }
        guard let (app, id, role, hasRoom, isNext) = found else { return }
        guard let id else {
            guard !event.isAnswer, event.wakesApp else { return }
            enqueue(event, for: client)
            if apps[app].state == .notRunning { relaunch(app) }
            return
        }
        let hears = apps[app].hears(role)
        if event.isAnswer { return emit(.event(event, to: id, of: apps[app].id)) }
        if hears, hasRoom, isNext { return hand(event, to: id, client, app) }
        enqueue(event, for: client)
        if hears {
            // Without room, nothing can go before it either.
            if hasRoom { flush(app) }
        } else if apps[app].hasMode(role), event.wakesApp {
            wake(app)
        }
    }

    private mutating func enqueue(_ event: ClientEvent, for client: ClientID) {
        let sequence = nextSequence()
        managers.change(client) { $0.queue.append(event, sequence: sequence) }
    }

    /// Delivers the waiting events of all managers of an app, in their order.
    mutating func flush(_ app: Int) {
        let (hearsCentral, hearsPeripheral) = (apps[app].hears(.central), apps[app].hears(.peripheral))
        while true {
            var next: (client: ClientID, id: ManagerID, sequence: UInt64)?
            managers.forEachInPlace { client, manager in
                guard manager.app == app, manager.hasRoom,
                    manager.role == .central ? hearsCentral : hearsPeripheral, let id = manager.id,
                    let sequence = manager.queue.nextSequence
                else { return }
                if next.map({ sequence < $0.sequence }) ?? true { next = (client, id, sequence) }
            }
            guard let next, let event = managers[next.client]?.queue.popFirst() else { return }
            hand(event, to: next.id, next.client, app)
        }
    }

    private mutating func hand(_ event: ClientEvent, to id: ManagerID, _ client: ClientID, _ app: Int) {
        managers.change(client) { $0.take(event) }
        emit(.event(event, to: id, of: apps[app].id))
    }

    // MARK: Apps that are slower than their peers

    /// An app has handled this many events with this many octets (`ClientEvent.approximateOctets`).
    public mutating func returned(
        events: Int, octets: Int, by manager: ManagerID, of app: AppID, at now: Instant
    ) {
        self.now = now
        guard let app = self.app(app), let client = client(of: manager, app) else { return }
        managers.change(client) { $0.returned(events: events, octets: octets) }
        flush(app)
        finish()
    }

    /// Whether a manager gets no more events until its app has handled some.
    public func isHeldBack(_ manager: ManagerID, of app: AppID) -> Bool {
        guard let app = self.app(app), let client = client(of: manager, app) else { return false }
        return managers[client]?.hasRoom == false
    }

    /// Whether events wait for an app that may receive them.
    public func hasWaiting(for app: AppID) -> Bool {
        guard let app = self.app(app) else { return false }
        return managers.keys.contains { client in
            managers.withValue(of: client) {
                $0.app == app && $0.id != nil && !$0.queue.isEmpty && apps[app].hears($0.role)
            } ?? false
        }
    }

    // MARK: Alerts

    /// Something happened at a peripheral about which some apps want to alert their users. Of each user's apps, one
    /// shows the alert: the one that was in the foreground last, unless it receives the event itself (SPEC ALR-1 to
    /// ALR-5).
    mutating func raiseAlert(_ kind: Alert.Kind, _ address: DeviceAddress) {
        // Of one app for each user, in the order of the managers.
        var best: [(app: Int, user: UInt32, peripheral: PeripheralDescription, foreground: UInt64)] = []
        for manager in managers where manager.id != nil {
            guard let central = manager.central else { continue }
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
        if let alert = alerts.raise(kind, for: apps[app].id, at: peripheral) { emit(.alert(alert)) }
    }

    /// The user has answered an alert; accepting it brings the app to the foreground (SPEC ALR-4).
    public mutating func alertAnswered(_ id: AlertID, isAccepted: Bool, at now: Instant) {
        if let alert = alerts.answer(id), isAccepted { enterForeground(alert.app, at: now) }
    }

    mutating func withdrawAlerts(of app: Int) {
        for id in alerts.withdraw(apps[app].id) { emit(.alertWithdrawn(id)) }
    }
}

extension ConnectOptions {
    /// Whether the app wants to alert the user.
    fileprivate func asks(for kind: Alert.Kind) -> Bool {
        switch kind {
        case .connection: notifiesOnConnection
        case .disconnection: notifiesOnDisconnection
        case .notification: notifiesOnNotification
        case .powerOff: false
        }
    }
}
