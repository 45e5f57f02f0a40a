import BLEHost
import BLEPackets

/// The preservation of managers whose app does not run, the journal, and restoration (SPEC SPR-1 to SPR-15, SPR-36).
extension AppLifecycle {
    // MARK: An app ends

    /// Keeps a manager after its process has ended.
    /// - Returns: whether there is anything to keep.
    mutating func preserve(_ client: ClientID) -> Bool {
        guard let manager = managers[client] else { return false }
        if manager.id == nil { return manager.snapshot?.hasTasks ?? false }
        guard let kept = preserved(manager), kept.hasTasks else { return false }
        managers[client]?.processEnded(keeping: kept, into: &effects)
        settle()
        return true
    }

    /// The current state of a manager; `nil` if it is not preserved.
    private func preserved(_ manager: Manager) -> PreservedManager? {
        manager.preserved(of: apps[manager.app].id) { directory.identifier(of: $0, app: manager.app) }
    }

    // MARK: An app is back

    /// The first event of a restored manager, before everything that has happened since (SPEC SPR-10).
    mutating func announceRestoration(_ client: ClientID) {
        let directory = directory
        guard let app = managers[client]?.app,
            let restoration = managers[client]?.takeRestoration(name: { directory.name(of: $0) })
        else { return }
        let first = [restoration] + firstState(of: client, app)
        managers[client]?.queue.prepend(first)
    }

    /// The process that had this manager goes on: it is told the state before everything that has happened since.
    mutating func continueProcess(_ client: ClientID) {
        guard let app = managers[client]?.app else { return }
        managers[client]?.continueProcess(into: &effects)
        settle()
        let first = firstState(of: client, app)
        managers[client]?.queue.prepend(first)
    }

    /// The state to tell a manager before everything that waits; nothing as long as it is unknown.
    private mutating func firstState(of client: ClientID, _ app: Int) -> [ClientEvent] {
        let state = state(app)
        guard state != .unknown else { return [] }
        managers[client]?.toldState = state
        return [.stateChanged(state, apps[app].manifest.authorization)]
    }

    // MARK: The journal

    /// Writes the changes of preserved managers to the journal.
    mutating func writeJournal() {
        effects.needsJournal = false
        for client in managers.keys {
            guard let manager = managers[client], let identifier = manager.restoreIdentifier,
                let kept = preserved(manager)
            else { continue }
            let wanted = manager.journalEntry(kept)
            guard wanted != manager.journaled else { continue }
            managers[client]?.journaled = wanted
            let removed = JournalEntry.managerRemoved(
                apps[manager.app].id, manager.kind, restoreIdentifier: identifier)
            effects.write(wanted.map { .manager($0) } ?? removed)
        }
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ state: PreservedState) {
        for identity in state.identities {
            directory.restore(identity, app: known(identity.app))
            forgetOldest()
        }
        for kept in state.managers where kept.hasTasks {
            let app = known(kept.app)
            // The manager could not have been preserved without the background mode.
            apps[app].manifest.backgroundModes.insert(BackgroundModes(kept.role))
            let client = add(kept.role, app, kept.restoreIdentifier)
            managers[client]?.restore(kept)
            for peripheral in kept.peripherals where !peripheral.address.isLasting {
                directory.restore(peripheral, app: app)
            }
        }
    }
}
