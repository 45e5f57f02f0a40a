import BLEHost
import BLEPackets

/// The delivery of events: at once, by waking the app, later, or by launching it (SPEC FGO-4, FGO-5, BGC-2, BGP-1,
/// SPR-5).
extension AppRuntime {
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
        let hears = apps[app].hears(kind)
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
        keepQueuesShort(app)
    }

    /// Drops what waits for the managers of an app, or of other apps of its user, beyond what may wait for them together
    /// (SPEC 5.5 rule 2). The longest queue loses, so that no app of a user takes the room of another.
    private mutating func keepQueuesShort(_ app: Int) {
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
        let (hearsCentral, hearsPeripheral) = (apps[app].hears(.central), apps[app].hears(.peripheral))
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
        managers.change(client) { $0.take(event) }
        apps[app].took(at: now, settings)
        if case .eventsLost(let count) = event { log(.eventsLost(count: count), app) }
        effects.emit(.event(event, to: id, of: apps[app].id))
    }

    // MARK: Alerts

    /// Something happened at a peripheral about which some apps want to alert their users. Of each user's apps, one
    /// shows the alert: the one that was in the foreground last, unless it receives the event itself (SPEC ALR-1 to
    /// ALR-5).
    mutating func raise(_ kind: Alert.Kind, at address: DeviceAddress, _ directory: PeerDirectory) {
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
        if let alert = alerts.raise(kind, for: apps[app].id, at: peripheral) { effects.emit(.alert(alert)) }
    }

    mutating func withdrawAlerts(of app: Int) {
        for id in alerts.withdraw(apps[app].id) { effects.emit(.alertWithdrawn(id)) }
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
