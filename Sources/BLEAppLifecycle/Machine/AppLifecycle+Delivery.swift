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
        if event.isAnswer || apps[app].hears(managers[index].role) && managers[index].queue.isEmpty {
            return emit(.event(event, to: id, of: apps[app].id))
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
            where managers[index].app == app && managers[index].id != nil && apps[app].hears(managers[index].role) {
                guard let sequence = managers[index].queue.nextSequence else { continue }
                if next.map({ sequence < $0.sequence }) ?? true { next = (index, sequence) }
            }
            guard let next, let id = managers[next.index].id, let event = managers[next.index].queue.popFirst() else {
                return
            }
            emit(.event(event, to: id, of: apps[app].id))
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
