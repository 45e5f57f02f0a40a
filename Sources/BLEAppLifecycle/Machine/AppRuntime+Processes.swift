import BLEHost
import BLEPackets

/// Processes: launch, foreground, background, suspension, wake, end (SPEC 5.4, BGX-2 to BGX-5).
extension AppRuntime {
    /// Changes what an app declares.
    /// - Returns: whether managers are concerned.
    mutating func declare(_ manifest: AppManifest, _ app: Int, _ directory: inout PeerDirectory) -> Bool {
        let before = apps[app].manifest
        apps[app].manifest = manifest
        // Preserved managers continue before their app is declared.
        let hidden = hiddenServices(for: app)
        for client in managers.keys where managers[client]?.app == app { managers[client]?.central?.state.hide(hidden) }
        if before.authorization != manifest.authorization {
            stateChanged(&directory)
        } else if before.overflow != manifest.overflow {
            convergeAll(of: app)
        } else {
            return false
        }
        return true
    }

    mutating func launched(_ app: Int, inForeground: Bool) {
        let turn = inForeground ? apps.nextForeground() : nil
        apps[app].launched(foreground: turn, at: now)
    }

    /// - Returns: whether it was not there.
    mutating func enterForeground(_ app: Int) -> Bool {
        guard apps[app].hasProcess, !apps[app].isInForeground else { return false }
        let wasSuspended = apps[app].state == .suspended
        let turn = apps.nextForeground()
        apps[app].enterForeground(turn)
        if wasSuspended { effects.emit(.process(.resume, apps[app].id)) }
        withdrawAlerts(of: app)
        convergeAll(of: app)
        flush(app)
        return true
    }

    /// - Returns: whether it was in the foreground.
    mutating func enterBackground(_ app: Int) -> Bool {
        guard apps[app].isInForeground else { return false }
        apps[app].enterBackground(until: now.advanced(by: settings.backgroundSpan))
        convergeAll(of: app)
        return true
    }

    /// Suspends an app, whatever it does.
    /// - Returns: whether it ran.
    mutating func suspend(_ app: Int, _ directory: inout PeerDirectory) -> Bool {
        guard apps[app].runs else { return false }
        checkBudget(app, &directory)
        if apps[app].runs { freeze(app, &directory) }
        return true
    }

    /// The process of an app has ended. Managers with a restore identifier continue without it (SPEC SPR-4).
    mutating func ended(_ app: Int, _ end: ProcessEnd, _ directory: inout PeerDirectory) {
        if apps[app].isRelaunching, end != .forceQuit {
            // It ended before it reported that it runs. What is preserved has not changed.
            return apps[app].launchFailed(at: now, settings)
        }
        let hadProcess = apps[app].hasProcess
        directory.writeDown(into: &effects)
        apps[app].ended()
        withdrawAlerts(of: app)
        for client in managers.keys where managers[client]?.app == app {
            // A manager that a complete run of the app did not create again is removed.
            let isForgotten = hadProcess && end != .crashed && managers[client]?.id == nil
            if end != .forceQuit, !isForgotten, preserve(client, &directory) { converge(client) } else { drop(client) }
        }
        if managers.contains(where: { $0.app == app && !$0.queue.isEmpty }) { relaunch(app) }
    }

    private mutating func freeze(_ app: Int, _ directory: inout PeerDirectory) {
        let wasInForeground = apps[app].isInForeground
        directory.writeDown(into: &effects)
        let (wakesCentral, wakesPeripheral) = (apps[app].hasMode(.central), apps[app].hasMode(.peripheral))
        var hasWaiting = false
        managers.forEachInPlace { _, manager in
            guard manager.app == app, manager.id != nil, !manager.queue.isEmpty else { return }
            if manager.kind == .central ? wakesCentral : wakesPeripheral { hasWaiting = true }
        }
        apps[app].freeze(at: now, settings, hasWaiting: hasWaiting)
        endRequests(of: app)
        effects.emit(.process(.suspend, apps[app].id))
        if wasInForeground { convergeAll(of: app) }
    }

    /// Requests of remote centrals that a suspended app has received and not answered end with an error: their senders
    /// need not wait for the end of the transaction. Those that it has not received wait if they wake it.
    private mutating func endRequests(of app: Int) {
        let wakes = apps[app].hasMode(.peripheral)
        var count = 0
        for client in managers.keys {
            var ended: [GATTRequestID] = []
            managers.change(client) { manager in
                guard manager.app == app else { return }
                let queue = manager.queue
                ended =
                    manager.peripheral?.state.suspended(
                        isWaiting: { question in wakes && queue.contains { $0.question == question } }) ?? []
                if !wakes { manager.queue.removeAll { event in event.question.map { ended.contains($0) } ?? false } }
            }
            for id in ended { submit(.server(.respond(id, .failure(.unlikelyError))), from: client) }
            count += ended.count
        }
        if count > 0 { log(.requestsEnded(count: count), app) }
    }

    /// Suspends woken apps that have nothing more to do.
    mutating func endWakes(_ directory: inout PeerDirectory) {
        for app in apps.indices where apps[app].mayEndEarly {
            setWork(of: app)
            if apps[app].isDone(at: now, settings) { freeze(app, &directory) }
        }
    }

    /// Notes what a woken app has not finished, as far as its owner reports it.
    private mutating func setWork(of app: Int) {
        guard apps[app].isWoken else { return }
        let (hearsCentral, hearsPeripheral) = (apps[app].receives(.central), apps[app].receives(.peripheral))
        var hasCalls = false
        managers.forEachInPlace { _, manager in
            guard manager.app == app, manager.id != nil else { return }
            let hears = manager.kind == .central ? hearsCentral : hearsPeripheral
            if manager.hasUnhandled || hears && !manager.queue.isEmpty || manager.peripheral?.state.owesAnswers == true
            {
                hasCalls = true
            }
        }
        apps[app].setWork(hasCalls: hasCalls, at: now)
    }

    /// An event waits for an app that does not run.
    mutating func wake(_ app: Int) {
        guard apps[app].wake(at: now) else { return }
        effects.emit(.process(.resume, apps[app].id))
        flush(app)
    }

    /// An event waits for an app that has no process (SPEC SPR-5, SPR-31).
    mutating func relaunch(_ app: Int) {
        let options = managers.preserved(app) { $0.hasTasks }
        guard apps[app].relaunch(options, at: now, settings) else { return }
        effects.emit(.process(.relaunch(options), apps[app].id))
    }

    // MARK: Time

    /// The next time at which an app or a manager has something to do.
    var nextDeadline: Instant? {
        var deadline: Instant?
        for app in apps.indices { deadline = earliest(deadline, apps[app].deadline(settings)) }
        for place in managers.keys.indices {
            deadline = earliest(deadline, managers.withValue(at: place) { $0.central?.state.nextDeadline } ?? nil)
        }
        return deadline
    }

    mutating func advance(_ directory: inout PeerDirectory) {
        for app in apps.indices {
            setWork(of: app)
            let isFreezeDue = apps[app].isFreezeDue(at: now, settings)
            apps[app].checkRelaunch(at: now, settings)
            if isFreezeDue { act(on: apps[app].checkTasks(at: now, settings), app, isWarned: true, &directory) }
            checkBudget(app, &directory)
            if isFreezeDue, apps[app].runs { freeze(app, &directory) }
            if apps[app].isWakeDue(at: now) {
                wake(app)
                relaunch(app)
            }
        }
        directory.planWriting(into: &effects)
        for client in managers.keys {
            guard let due = managers[client]?.central?.state.nextDeadline, due <= now else { continue }
            converge(client)
        }
    }

    private mutating func checkBudget(_ app: Int, _ directory: inout PeerDirectory) {
        act(on: apps[app].checkBudget(at: now, settings), app, isWarned: false, &directory)
    }

    private mutating func act(
        on change: App.Change, _ app: Int, isWarned: Bool, _ directory: inout PeerDirectory
    ) {
        let id = apps[app].id
        switch change {
        case .none: break
        case .idle: freeze(app, &directory)
        case .ending: effects.emit(.process(.expiring, id))
        case .expiring(let strikes):
            log(.wakeBudgetExceeded(strikes: strikes), app)
            if !isWarned { effects.emit(.process(.expiring, id)) }
        case .terminated(let strikes):
            log(.wakeBudgetExceeded(strikes: strikes), app)
            if !isWarned { effects.emit(.process(.expiring, id)) }
            effects.emit(.process(.terminate, id))
            ended(app, .terminatedBySystem, &directory)
            finish(&directory)
        }
    }
}
