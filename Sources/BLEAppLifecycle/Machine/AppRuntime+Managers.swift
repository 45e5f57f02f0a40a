import BLEHost

/// Managers: creation, preservation, restoration, and their end (SPEC CEN-1 to CEN-3, PER-1, SPR-1 to SPR-15, SPR-36).
extension AppRuntime {
    mutating func create(
        _ kind: ManagerRole, _ options: ManagerOptions, _ id: ManagerID, _ app: Int,
        _ directory: inout PeerDirectory
    ) {
        guard managers.client(of: id, app) == nil else { return log(.wrongManager, app) }
        if !apps[app].hasProcess {
            launched(app, inForeground: true)
            finish(&directory)
        }
        let identifier = restoreIdentifier(options, kind, app)
        let kept = identifier.flatMap { identifier in managers.first { $0.isKept(app, kind, identifier) }?.client }
        let client = kept ?? add(kind, app, identifier)
        managers[client]?.id = id
        managers[client]?.options = options
        if kept != nil {
            if options.continues { continueProcess(client, app) } else { announceRestoration(client, app, &directory) }
        }
        deliverState(client)
        if options.showsPowerAlert, managers[client]?.reportedState == .poweredOff { raise(.powerOff, app) }
        converge(client)
        flush(app)
        // An app that counts as suspended but runs has created this manager to receive its waiting events.
        if managers[client]?.queue.isEmpty == false, apps[app].hasMode(kind) { wake(app) }
    }

    /// The identifier under which a manager is preserved; `nil`, with a line in the log, if it cannot be preserved.
    private mutating func restoreIdentifier(_ options: ManagerOptions, _ kind: ManagerRole, _ app: Int) -> String? {
        guard let identifier = options.restoreIdentifier else { return nil }
        guard apps[app].hasMode(kind) else {
            log(.restorationWithoutBackgroundMode(kind), app)
            return nil
        }
        let isTaken = managers.contains {
            $0.app == app && $0.kind == kind && $0.restoreIdentifier == identifier && $0.id != nil
        }
        guard !isTaken else {
            log(.duplicateRestoreIdentifier(kind, identifier), app)
            return nil
        }
        let isKept = managers.contains { $0.isKept(app, kind, identifier) }
        guard
            isKept || managers.count(where: { $0.app == app && $0.restoreIdentifier != nil }) < settings.preservedOfApp
        else {
            log(.appLimitReached("managers with restore identifiers", limit: settings.preservedOfApp), app)
            return nil
        }
        return identifier
    }

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

    // MARK: An app ends

    /// Keeps a manager after its process has ended.
    /// - Returns: whether there is anything to keep.
    mutating func preserve(_ client: ClientID, _ directory: inout PeerDirectory) -> Bool {
        guard let manager = managers[client] else { return false }
        if manager.id == nil { return manager.snapshot?.hasTasks ?? false }
        guard let kept = preserved(manager, &directory), kept.hasTasks else { return false }
        managers[client]?.processEnded(keeping: kept, into: &effects)
        settle()
        return true
    }

    /// The current state of a manager; `nil` if it is not preserved.
    func preserved(_ manager: Manager, _ directory: inout PeerDirectory) -> PreservedManager? {
        manager.preserved(of: apps[manager.app].id) { directory.identifier(of: $0, app: manager.app) }
    }

    // MARK: An app is back

    /// The first event of a restored manager, before everything that has happened since (SPEC SPR-10).
    private mutating func announceRestoration(_ client: ClientID, _ app: Int, _ directory: inout PeerDirectory) {
        guard let restoration = managers[client]?.restorationEvent(name: { directory.name(of: $0) }) else { return }
        let first = [restoration] + firstState(of: client, app)
        managers[client]?.queue.prepend(first)
    }

    /// The process that had this manager goes on: it gets the state before everything that has happened since.
    private mutating func continueProcess(_ client: ClientID, _ app: Int) {
        managers[client]?.continueProcess(into: &effects)
        settle()
        let first = firstState(of: client, app)
        managers[client]?.queue.prepend(first)
    }

    /// The state event that a manager gets before everything that waits; none as long as the state is unknown.
    private mutating func firstState(of client: ClientID, _ app: Int) -> [ClientEvent] {
        let state = state(app)
        guard state != .unknown else { return [] }
        managers[client]?.reportedState = state
        return [.stateChanged(state, apps[app].manifest.authorization)]
    }

    // MARK: The journal

    /// Writes the changes of preserved managers to the journal.
    mutating func writeJournal(_ directory: inout PeerDirectory) {
        for place in managers.keys.indices {
            var mayDiffer = false
            // Reading a manager copies it; changing it does not.
            managers.change(at: place) { mayDiffer = $0.mayDifferFromJournal }
            guard mayDiffer else { continue }
            let client = managers.keys[place]
            guard let manager = managers[client], let identifier = manager.restoreIdentifier,
                let kept = preserved(manager, &directory)
            else { continue }
            let wanted = manager.journalEntry(kept)
            managers[client]?.journaledRevision = manager.revision
            guard wanted != manager.journaled else { continue }
            managers[client]?.journaled = wanted
            let removed = JournalEntry.managerRemoved(
                apps[manager.app].id, manager.kind, restoreIdentifier: identifier)
            effects.write(wanted.map { .manager($0) } ?? removed)
        }
    }

    /// Restores a manager of an earlier process.
    mutating func restore(_ kept: PreservedManager, _ app: Int) {
        // The manager could not have been preserved without the background mode.
        apps[app].manifest.backgroundModes.insert(BackgroundModes(kept.role))
        let client = add(kept.role, app, kept.restoreIdentifier)
        managers[client]?.restore(kept)
    }
}
