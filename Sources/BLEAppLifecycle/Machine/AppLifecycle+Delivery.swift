import BLEHost
import BLEPackets

/// How an event finds its app: at once, by waking it, later, or by launching it (SPEC FGO-4, FGO-5, BGC-2, BGP-1, SPR-5).
extension AppLifecycle {
    mutating func tell(_ event: ClientEvent, _ index: Int, at now: Instant) {
        let app = managers[index].app
        guard let id = managers[index].id else {
            guard !event.isAnswer, event.wakesApp else { return }
            managers[index].queue.append(event, sequence: nextSequence())
            if apps[app].state == .notRunning { relaunch(app, at: now) }
            return
        }
        if event.isAnswer { return emit(.event(event, to: id, of: apps[app].id)) }
        if apps[app].hears(managers[index].role), managers[index].queue.isEmpty, managers[index].hasRoom {
            return hand(event, to: id, index)
        }
        managers[index].queue.append(event, sequence: nextSequence())
        let hasMode = apps[app].manifest.backgroundModes.contains(BackgroundModes(managers[index].role))
        if apps[app].hears(managers[index].role) {
            flush(app)
        } else if hasMode, event.wakesApp {
            wake(app, at: now)
        }
    }

    mutating func tell(_ event: PeripheralEvent, of peer: PeerIdentifier, _ index: Int, at now: Instant) {
        tell(.peripheral(peer, event), index, at: now)
    }

    /// Hands an app what waits for it, of all its managers in the order in which it came.
    mutating func flush(_ app: Int) {
        while true {
            var next: (index: Int, sequence: UInt64)?
            for index in managers.indices
            where managers[index].app == app && managers[index].id != nil && managers[index].hasRoom
                && apps[app].hears(managers[index].role)
            {
                guard let sequence = managers[index].queue.nextSequence else { continue }
                if next.map({ sequence < $0.sequence }) ?? true { next = (index, sequence) }
            }
            guard let next, let id = managers[next.index].id, let event = managers[next.index].queue.popFirst() else {
                return
            }
            hand(event, to: id, next.index)
        }
    }

    private mutating func hand(_ event: ClientEvent, to id: ManagerID, _ index: Int) {
        managers[index].room.events -= 1
        managers[index].room.octets -= event.approximateOctets
        emit(.event(event, to: id, of: apps[managers[index].app].id))
    }

    // MARK: Apps that are slower than their peers

    /// An app has handled so many of the events that it was told, of so many octets (`ClientEvent.approximateOctets`).
    public mutating func returned(
        events: Int, octets: Int, by manager: ManagerID, of app: AppID, at now: Instant
    ) {
        guard let app = self.app(app), let index = index(of: manager, app) else { return }
        managers[index].room.events += min(events, settings.unhandledEventLimit - managers[index].room.events)
        managers[index].room.octets += min(octets, settings.unhandledOctetLimit - managers[index].room.octets)
        flush(app)
        finish()
    }

    /// Whether a manager is told nothing more until its app has handled some of what it was told.
    public func isHeldBack(_ manager: ManagerID, of app: AppID) -> Bool {
        guard let app = self.app(app), let index = index(of: manager, app) else { return false }
        return !managers[index].hasRoom
    }

    /// Whether something waits for an app that may hear of it.
    public func hasWaiting(for app: AppID) -> Bool {
        guard let app = self.app(app) else { return false }
        return managers.contains {
            $0.app == app && $0.id != nil && !$0.queue.isEmpty && apps[app].hears($0.role)
        }
    }

    /// Whether so much waits for a manager that what peers can do without is refused: half of the room is left for what
    /// they cannot. What it loses is counted.
    func isCrowded(_ index: Int) -> Bool {
        managers[index].queue.count >= settings.queuedEventLimit / 2
            || managers[index].queue.octets >= settings.queuedOctetLimit / 2
    }

    /// Indications are left unconfirmed while an app runs and does not keep up: their senders wait.
    mutating func holdIndications() {
        for index in managers.indices where managers[index].role == .central {
            let isHeld = managers[index].holdsIndications
            guard isHeld || !managers[index].queue.isEmpty else { continue }
            let runs = managers[index].id != nil && apps[managers[index].app].hears(.central)
            let queue = managers[index].queue
            let isCalm =
                queue.count < settings.queuedEventLimit / 4 && queue.octets < settings.queuedOctetLimit / 4
            guard isHeld != (runs && (isHeld ? !isCalm : isCrowded(index))) else { continue }
            managers[index].holdsIndications = !isHeld
            submit(.holdIndications(!isHeld), from: managers[index].client)
        }
    }

    // MARK: Alerts

    /// Something happened at a peripheral for which some apps want the user to know. One of them tells: the one that was in
    /// the foreground last, where it cannot hear of it itself (SPEC ALR-1 to ALR-5).
    mutating func raiseAlert(_ kind: Alert.Kind, _ address: DeviceAddress) {
        var best: (manager: Int, identifier: PeerIdentifier, foreground: UInt64)?
        for index in managers.indices where managers[index].id != nil {
            for session in managers[index].central.peripherals where session.address == address {
                let isWanted =
                    switch kind {
                    case .connection: session.options.notifiesOnConnection
                    case .disconnection: session.options.notifiesOnDisconnection
                    case .notification: session.options.notifiesOnNotification
                    case .powerOff: false
                    }
                let foreground = apps[managers[index].app].lastForeground
                guard isWanted, best.map({ foreground > $0.foreground }) ?? true else { continue }
                best = (index, session.identifier, foreground)
            }
        }
        guard let best else { return }
        let app = managers[best.manager].app
        guard !apps[app].isInForeground, !apps[app].manifest.backgroundModes.contains(.central) else { return }
        let isOutstanding = alerts.contains {
            $0.app == apps[app].id && $0.kind == kind && $0.peripheral?.identifier == best.identifier
        }
        guard !isOutstanding else { return }
        raise(kind, app, describe(best.identifier, address, best.manager))
    }

    mutating func raise(_ kind: Alert.Kind, _ app: Int, _ peripheral: PeripheralDescription? = nil) {
        let alert = Alert(id: nextAlert(), app: apps[app].id, kind: kind, peripheral: peripheral)
        alerts.append(alert)
        emit(.alert(alert))
    }

    /// The user has seen an alert; who accepts it brings the app to the foreground (SPEC ALR-4).
    public mutating func alertAnswered(_ id: AlertID, isAccepted: Bool, at now: Instant) {
        guard let index = alerts.firstIndex(where: { $0.id == id }) else { return }
        let alert = alerts.remove(at: index)
        if isAccepted { enterForeground(alert.app, at: now) }
    }

    mutating func withdrawAlerts(of app: Int) {
        for alert in alerts where alert.app == apps[app].id { emit(.alertWithdrawn(alert.id)) }
        alerts.removeAll { $0.app == apps[app].id }
    }
}
