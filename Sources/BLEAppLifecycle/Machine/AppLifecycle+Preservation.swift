import BLEHost
import BLEPackets

/// What is kept of managers whose app does not run, how it is written down, and how it is given back
/// (SPEC SPR-1 to SPR-15, SPR-36).
extension AppLifecycle {
    // MARK: An app ends

    /// Keeps a manager without its process.
    /// - Returns: whether there is anything to keep.
    mutating func preserve(_ index: Int) -> Bool {
        if managers[index].id == nil { return managers[index].snapshot?.hasTasks ?? false }
        guard let kept = preserved(index), kept.hasTasks else { return false }
        // What was said and not heard stands in the snapshot, or is said again behind it.
        managers[index].queue.removeAll { event in event.isStateChange || event.isRestoration }
        let waiting = managers[index].server.questions
        for question in waiting where !managers[index].queue.contains(where: { $0.question == question.id }) {
            // The process that was asked will not answer.
            submit(.respond(question.id, .failure(.unlikelyError)), from: managers[index].client)
            managers[index].server.questions.removeAll { $0.id == question.id }
        }
        // A channel is a thing between two processes (SPEC section 4): it does not outlast one of them.
        closeChannels(of: index)
        managers[index].id = nil
        managers[index].room = (settings.unhandledEventLimit, settings.unhandledOctetLimit)
        managers[index].toldState = nil
        managers[index].snapshot = kept
        managers[index].central.connectionEvents = nil
        forgetAnswers(index)
        return true
    }

    /// Answers to a process that is gone mean nothing to the next one; what they tell of the peripheral is in its services.
    private mutating func forgetAnswers(_ index: Int) {
        managers[index].queue.removeAll { event in
            guard case .peripheral(_, let event) = event else { return false }
            if case .valueUpdated = event { return false }
            return true
        }
    }

    /// What a manager is at now; `nil` where it is not to be preserved.
    func preserved(_ index: Int) -> PreservedManager? {
        let manager = managers[index]
        guard let identifier = manager.restoreIdentifier else { return nil }
        var kept = PreservedManager(
            app: apps[manager.app].id, role: manager.role, restoreIdentifier: identifier)
        kept.scan = manager.central.scan
        kept.peripherals = manager.central.peripherals.map {
            PreservedManager.Peripheral(
                identifier: $0.identifier, address: $0.address, options: $0.options, isConnected: $0.link != nil,
                services: $0.services)
        }
        kept.services = manager.server.services.map(\.definition)
        kept.advertisement = manager.server.advertisement
        for subscriber in manager.server.subscribers {
            guard let central = identities.identifier(of: subscriber.address, app: manager.app) else { continue }
            let description = CentralDescription(
                identifier: central, maximumUpdateLength: subscriber.maximumUpdateLength)
            if let place = kept.subscriptions.firstIndex(where: { $0.characteristic == subscriber.characteristic }) {
                kept.subscriptions[place].centrals.append(description)
            } else {
                kept.subscriptions.append(
                    RestoredPeripheral.Subscription(
                        characteristic: subscriber.characteristic, centrals: [description]))
            }
        }
        return kept
    }

    // MARK: An app is back

    /// The first thing that a restored manager hears, with all that happened since behind it (SPEC SPR-10).
    mutating func announceRestoration(_ index: Int) {
        guard let kept = managers[index].snapshot else { return }
        managers[index].snapshot = nil
        var first: [ClientEvent] = []
        switch kept.role {
        case .central:
            let peripherals = kept.peripherals.map { peripheral in
                let session = managers[index].central.index(of: peripheral.identifier)
                let mtu = session.map { managers[index].central.peripherals[$0].attMTU } ?? 23
                return RestoredRemotePeripheral(
                    description: PeripheralDescription(
                        identifier: peripheral.identifier, name: identities.name(of: peripheral.address),
                        state: peripheral.isConnected ? .connected : .connecting),
                    services: peripheral.services,
                    writeLimits: WriteLimits(withResponse: 512, withoutResponse: mtu - 3))
            }
            first.append(.willRestoreCentral(RestoredCentral(peripherals: peripherals, scan: kept.scan)))
        case .peripheral:
            first.append(
                .willRestorePeripheral(
                    RestoredPeripheral(
                        services: kept.services, subscriptions: kept.subscriptions,
                        advertisement: kept.advertisement)))
        }
        let state = state(managers[index].app)
        if state != .unknown {
            managers[index].toldState = state
            first.append(.stateChanged(state, apps[managers[index].app].manifest.authorization))
        }
        managers[index].queue.prepend(first)
    }

    // MARK: The journal

    /// Writes down what has changed of managers that are preserved.
    mutating func writeJournal() {
        needsJournal = false
        for index in managers.indices {
            guard let identifier = managers[index].restoreIdentifier, var kept = preserved(index) else { continue }
            // Until its app has taken it back, a manager is what it was, even if it has been told otherwise since.
            if let snapshot = managers[index].snapshot, managers[index].id == nil { kept = snapshot.updated(by: kept) }
            let wanted = kept.hasTasks ? kept : nil
            guard wanted != managers[index].journaled else { continue }
            managers[index].journaled = wanted
            let app = apps[managers[index].app].id
            emitFirst(
                .journal(
                    wanted.map { .manager($0) }
                        ?? .managerRemoved(app, managers[index].role, restoreIdentifier: identifier)))
        }
    }

    /// Takes up what an earlier process left.
    mutating func restore(_ state: PreservedState) {
        restore(state.identities)
        for kept in state.managers where kept.hasTasks {
            let app = known(kept.app)
            // It could not have been preserved without.
            apps[app].manifest.backgroundModes.insert(BackgroundModes(kept.role))
            var manager = Manager(
                client: nextClient(), app: app, role: kept.role, restoreIdentifier: kept.restoreIdentifier,
                queue: ClientEventQueue(
                    eventLimit: settings.queuedEventLimit, octetLimit: settings.queuedOctetLimit),
                room: (settings.unhandledEventLimit, settings.unhandledOctetLimit))
            var snapshot = kept
            for place in snapshot.peripherals.indices {
                // The link did not outlast the process that held it.
                snapshot.peripherals[place].isConnected = false
                snapshot.peripherals[place].services = nil
            }
            snapshot.subscriptions = []
            manager.snapshot = snapshot
            manager.journaled = kept
            manager.central.scan = kept.scan
            manager.central.peripherals = kept.peripherals.map {
                PeripheralSession(
                    identifier: $0.identifier, address: $0.address, options: $0.options,
                    state: .connecting(nil, notBefore: nil))
            }
            for peripheral in kept.peripherals where !peripheral.address.isLasting {
                identities.insert(peripheral.identifier, peripheral.address, app: app, isKept: true)
            }
            manager.server.services = kept.services.map { ServerState.Service(definition: $0, isTold: true) }
            manager.server.advertisement = kept.advertisement
            managers.append(manager)
        }
    }
}

extension PreservedManager {
    /// Peripherals that are wanted no more are wanted no more after a restart either.
    func updated(by now: PreservedManager) -> PreservedManager {
        var kept = self
        kept.scan = now.scan
        kept.advertisement = now.advertisement
        kept.services = now.services
        return kept
    }
}

extension ClientEvent {
    var isRestoration: Bool {
        switch self {
        case .willRestoreCentral, .willRestorePeripheral: true
        default: false
        }
    }
}
