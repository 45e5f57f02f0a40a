import BLEAppLifecycle
import BLEMessages

/// The manifests of installed apps.
extension DaemonCore {
    /// Reads the manifests again. A file that has become wrong changes nothing for its app. An app that is no longer
    /// installed, or has become another user's, ends as one that was quit.
    mutating func readManifests(_ reason: ManifestReason) {
        if rules.hasAppsFolder { return effects.append(.readManifests(before: apps.installed, reason)) }
        openSocketToOthers()
        takeRightsAway()
        follow(reason)
    }

    mutating func manifestsAreRead(_ read: InstalledApps, _ reason: ManifestReason) {
        apps.hasReadManifests = true
        let before = apps.installed
        apps.installed = read
        let place = controller.place.map { AdapterKey.place($0).text }
        let names = [rules.transportName, controller.key?.text, place]
        let (isFirst, usual) = (rules.isFirst, rules.defaultAdapter)
        apps.installed.keep { app in (app.adapter ?? usual).map { names.contains($0) } ?? isFirst }
        for app in before.all where apps.installed[app.id]?.user.id != app.user.id { uninstalled(app) }
        for app in apps.installed.all {
            if let owner = apps.owners[app.id], owner != app.user.id { abandon(app.id) }
            apps.owners[app.id] = app.user.id
            apps.lifecycle.withApps(at: now) { $0.declare(app.manifest) }
            if before[app.id] == nil { warnOfOwnUser(app) }
            if before[app.id]?.manifest.overflow != app.manifest.overflow { warnOfOverflow(app) }
        }
        if controller.isReady { setPairing() }
        openSocketToOthers()
        takeRightsAway()
        // By then all daemons of the process have said which adapters they have.
        if !absentAdapters.isEmpty { apps.absenceDeadline = microseconds + Self.absenceMicroseconds }
        follow(reason)
    }

    /// What the manifests were read for.
    private mutating func follow(_ reason: ManifestReason) {
        switch reason {
        case .reload: break
        case .settings(let isOverflowChanged):
            if isOverflowChanged { for app in apps.installed.all { warnOfOverflow(app) } }
        case .adapterKnown: forgetUninstalledApps()
        case .reloadedBy(let operatorID): complete(listOfApps, for: operatorID)
        case .installed(let app, let path, let operatorID):
            effects.append(.manifestsChanged)
            complete(answer(problem(of: app, at: path)), for: operatorID)
        case .removed(let app, let removal, let operatorID):
            if removal.refusal != nil {
                effects.append(.manifestsChanged)
            } else {
                forget(app, keepsState: removal.keepsState)
                effects.append(.appRemoved(app, keepsState: removal.keepsState))
            }
            complete(removal, for: operatorID)
        case .removedElsewhere(let app, let keepsState): forget(app, keepsState: keepsState)
        }
    }

    /// Changes who may connect, what new clients may have and what apps may send. Programs that may no longer do what
    /// they do are refused.
    mutating func change(_ change: DaemonChange) {
        rules.users = change.users
        rules.operatorGroup = change.operatorGroup
        rules.limits = change.limits
        let before = rules.overflow
        rules.overflow = change.overflow
        let (now, shared) = (now, rules.overflow)
        apps.lifecycle.withApps(at: now) { apps in
            apps.settings.limit(change.limits)
            apps.setOverflow(shared, at: now)
        }
        readManifests(.settings(isOverflowChanged: shared != before))
    }

    /// Each connection is checked; the file only decides who can ask.
    private mutating func openSocketToOthers() {
        let isForOthers =
            !rules.users.union(apps.installed.users).isSubset(of: [0, rules.ownUser]) || rules.operatorGroup != nil
        if isForOthers { effects.append(.openSocketToOthers) }
    }

    // MARK: For operators

    mutating func installed(_ installation: Installation, by id: ConnectionID) {
        switch installation {
        case .refused(let problem): complete(answer(problem), for: id)
        case .written(let app, let path):
            if let user = connections[id]?.peer.user { log("user \(user) installed ‘\(app.id.rawValue)’") }
            readManifests(.installed(app, path: path, by: id))
        }
    }

    /// Why an app whose manifest was written is not installed; `nil`: it is.
    private func problem(of app: InstalledApp, at path: String) -> String? {
        if apps.installed[app.id] != nil { return nil }
        // Then it is the app of another adapter of this process, which reads it now.
        let adapter = adapter(of: app)
        if adapter.map({ lookups.hasAdapter($0) }) ?? !rules.isFirst { return nil }
        if let adapter {
            return "‘\(path)’ was written, but this bled does not have the adapter ‘\(adapter)’; name it with "
                + "‘--adapter’, or change ‘adapter’ in the manifest"
        }
        return "‘\(path)’ was written, but is ignored; see the log of bled"
    }

    mutating func removed(_ removal: Removal, by id: ConnectionID) {
        if removal.refusal != nil {
            // Those that are gone are no longer manifests of the app.
            if removal.deleted.isEmpty { return complete(removal, for: id) }
        } else {
            if let user = connections[id]?.peer.user { log("user \(user) removed ‘\(removal.app.rawValue)’") }
            if removal.isKilled != nil { processes[removal.app]?.isKilled = true }
        }
        // It may be the app of another adapter, and have been that of this one.
        readManifests(.removed(removal.app, removal, by: id))
    }

    private mutating func complete(_ removal: Removal, for id: ConnectionID) {
        var answer = answer(removal.refusal)
        if removal.refusal == nil {
            var removed = RemovedApp()
            removed.keepsState = removal.keepsState
            removed.files = removal.deleted
            removed.process = removal.process.map { UInt32($0) }
            removed.isRunning = removal.isKilled == false
            answer.removed = removed
        }
        complete(answer, for: id)
    }

    /// Ends what is left of an app that has been removed, and forgets it.
    private mutating func forget(_ id: AppID, keepsState: Bool) {
        // Somebody may have installed it again.
        guard apps.installed[id] == nil, !apps.installed.elsewhere.contains(where: { $0.id == id }) else { return }
        processes.wantedLaunches[id] = nil
        // What is preserved goes in any case: nothing would ever launch the app for it.
        if !apps.lifecycle.apps.preserved(of: id).isEmpty { ended(id, .forceQuit) }
        guard !keepsState else { return drain() }
        let now = now
        apps.lifecycle.withApps(at: now) { apps in
            apps.abandon(id, at: now)
            _ = apps.release(id, forgettingDevices: true, at: now)
        }
        // The journal has it under its user's name.
        drain()
        apps.owners[id] = nil
    }

    /// Whether something is left of an app, installed or not.
    func hasState(of id: AppID) -> Bool {
        processes[id] != nil || !apps.lifecycle.apps.preserved(of: id).isEmpty || apps.owners[id] != nil
    }

    // MARK: Adapters that are not there

    private static let absenceMicroseconds: UInt64 = 3_000_000

    /// The name of an app's adapter; `nil`: that of the first daemon.
    private func adapter(of app: InstalledApp) -> String? { app.adapter ?? rules.defaultAdapter }

    /// The adapters that manifests name and no daemon of this process has, with the apps that wait for each.
    var absentAdapters: [(name: String, apps: [AppID])] {
        guard rules.isFirst else { return [] }
        var absent: [(name: String, apps: [AppID])] = []
        for app in apps.installed.elsewhere {
            guard let name = adapter(of: app), !lookups.hasAdapter(name) else { continue }
            if let place = absent.firstIndex(where: { $0.name == name }) {
                absent[place].apps.append(app.id)
            } else {
                absent.append((name, [app.id]))
            }
        }
        return absent
    }

    static func absence(of adapter: String, _ apps: [AppID]) -> String {
        let names = apps.map { "‘\($0.rawValue)’" }.joined(separator: ", ")
        return "this bled does not have the adapter, for which \(names) \(apps.count == 1 ? "waits" : "wait"); name it "
            + "with ‘--adapter’, or change ‘adapter’ in the manifest"
    }

    /// Names each adapter once.
    mutating func logAbsentAdapters() {
        apps.absenceDeadline = nil
        for (name, apps) in absentAdapters where self.apps.namedAbsent.insert(name).inserted {
            warn("\(name): \(Self.absence(of: name, apps))")
        }
    }

    // MARK: Apps that are no longer installed

    /// Forgets what earlier daemons have preserved for apps that are no longer installed, or have another adapter now.
    mutating func forgetUninstalledApps() {
        // A file that is wrong may be theirs, and so may an adapter whose address is not known yet.
        guard rules.hasAppsFolder, apps.installed.areComplete, !rules.isKernelAdapter || controller.key != nil
        else { return }
        for id in apps.lifecycle.apps.preservedApps where apps.installed[id] == nil {
            let isElsewhere = apps.installed.elsewhere.contains { $0.id == id }
            let reason = isElsewhere ? "has another adapter now" : "is no longer installed"
            log("‘\(id.rawValue)’ \(reason): what it had asked for here ends")
            ended(id, .forceQuit)
        }
    }

    /// The next app with this identifier may be another user's: nothing of this one is left to it.
    private mutating func uninstalled(_ app: InstalledApp) {
        let id = app.id
        log("‘\(id.rawValue)’ of user \(app.user.id) is no longer installed: it ends")
        processes.wantedLaunches[id] = nil
        processes.endWaiting(for: id)
        if let connection = connection(of: id) {
            refuse(connection, "the app is no longer installed")
            // It gets its last messages.
            while let output = connection.app?.session.nextOutput() {
                if case .send(let message) = output { send(message, to: connection) }
            }
            remove(connection)
        }
        switch processes[id]?.facts.kind {
        case nil: break
        case .group, .cgroup: kill(id)
        case .process, .unit:
            // It was started elsewhere, and only its connection was the daemon's.
            effects.append(.process(id, .resume))
            effects.append(.process(id, .release))
            processes.forget(id)
            saveProcesses()
        }
        ended(id, .forceQuit)
    }

    /// Forgets what an app of another user with this identifier has left, also which devices it knows.
    private mutating func abandon(_ id: AppID) {
        let now = now
        apps.lifecycle.withApps(at: now) { $0.abandon(id, at: now) }
        // The journal has it under that user's name.
        drain()
    }

    // MARK: Warnings

    /// One overflow area is for all apps, and the configuration names its company.
    private mutating func warnOfOverflow(_ app: InstalledApp) {
        let overflow = rules.overflow
        guard case .company = app.manifest.overflow, case .company = overflow, app.manifest.overflow != overflow else {
            return
        }
        warn(
            "‘\(app.id.rawValue)’ adds nothing to the overflow area: ‘overflow’ of its manifest is "
                + "\(app.manifest.overflow.rawValue), and that of bled \(overflow.rawValue); write ‘on’ in "
                + "the manifest, or the same in the configuration")
    }

    /// A process of the daemon's own user can read its files, with the keys of all bonds, and is an operator.
    private mutating func warnOfOwnUser(_ app: InstalledApp) {
        guard !app.command.isEmpty, app.user.id == rules.ownUser, rules.isFirst else { return }
        warn(
            "‘\(app.id.rawValue)’ will run as ‘\(app.user.name)’, as bled does, so it can read the keys of bonds and is "
                + "an operator; give it another ‘user’, or a ‘unit’ with one")
    }
}
