import BLEHost
import BLEPackets

/// Processes: launched, in front, behind, suspended, woken, ended (SPEC 5.4, BGX-2 to BGX-5).
extension AppLifecycle {
    // MARK: Inputs

    /// What an app declares. One that was never declared has no background mode.
    public mutating func declare(_ manifest: AppManifest) {
        if let index = app(manifest.app) { apps[index].manifest = manifest } else { apps.append(App(manifest)) }
    }

    /// The process of an app runs: the first input of each of its lives.
    public mutating func launched(_ id: AppID, inForeground: Bool, at now: Instant) {
        let index = known(id)
        if case .relaunching = apps[index].state {} else { apps[index].launchOptions = LaunchOptions() }
        apps[index].mayNotRelaunch = false
        apps[index].wantsWake = false
        if inForeground {
            apps[index].state = .foreground
            apps[index].lastForeground = nextForeground()
        } else {
            apps[index].state = .woken(since: now, isExpiring: false)
            apps[index].hasOverrun = false
        }
        finish()
    }

    /// Why the app was launched; empty unless the system did it (SPEC SPR-6, SPR-7).
    public func launchOptions(of id: AppID) -> LaunchOptions {
        app(id).map { apps[$0].launchOptions } ?? LaunchOptions()
    }

    /// Whether the process of an app runs because it was woken for an event, and for that alone (SPEC BGX-4).
    public func isWoken(_ id: AppID) -> Bool {
        guard let index = app(id), case .woken = apps[index].state else { return false }
        return true
    }

    /// The user looks at the app, or an operator says so. Its process is resumed where it was suspended, and hears all
    /// that waits for it (SPEC FGO-5).
    public mutating func enterForeground(_ id: AppID, at now: Instant) {
        let index = known(id)
        guard apps[index].hasProcess, !apps[index].isInForeground else { return }
        let wasSuspended = apps[index].state == .suspended
        apps[index].state = .foreground
        apps[index].lastForeground = nextForeground()
        apps[index].strikes = []
        apps[index].wakeNotBefore = nil
        apps[index].wantsWake = false
        if wasSuspended { emit(.process(.resume, id)) }
        withdrawAlerts(of: index)
        convergeAll(of: index, at: now)
        flush(index)
        finish()
    }

    /// The user looks elsewhere.
    public mutating func enterBackground(_ id: AppID, at now: Instant) {
        let index = known(id)
        guard apps[index].isInForeground else { return }
        apps[index].state = .background(until: now.advanced(by: settings.backgroundSpan))
        apps[index].hasOverrun = false
        convergeAll(of: index, at: now)
        finish()
    }

    /// The app has done what it was woken for, or has nothing to do in the background: it runs no more.
    public mutating func suspend(_ id: AppID, at now: Instant) {
        let index = known(id)
        guard apps[index].runs else { return }
        checkBudget(index, at: now)
        guard apps[index].runs else { return }
        writeIdentities()
        freeze(index, at: now)
        finish()
    }

    /// The process of an app is no more. What it had under a restore identifier goes on without it (SPEC SPR-4).
    public mutating func ended(_ id: AppID, _ end: ProcessEnd, at now: Instant) {
        let index = known(id)
        let mayPreserve = end != .forceQuit
        let hadProcess = apps[index].hasProcess
        writeIdentities()
        apps[index].state = .notRunning
        apps[index].launchOptions = LaunchOptions()
        withdrawAlerts(of: index)
        for client in managers.filter({ $0.app == index }).map(\.client) {
            guard let manager = self.index(of: client) else { continue }
            // One that a whole life of the app did not ask for is wanted no more.
            let isForgotten = hadProcess && end != .crashed && managers[manager].id == nil
            if mayPreserve, !isForgotten, preserve(manager) {
                converge(manager, at: now)
            } else {
                drop(manager, at: now)
            }
        }
        if managers.contains(where: { $0.app == index && !$0.queue.isEmpty }) { relaunch(index, at: now) }
        finish()
    }

    // MARK: Inside

    mutating func known(_ id: AppID) -> Int {
        if let index = app(id) { return index }
        apps.append(App(AppManifest(app: id)))
        return apps.count - 1
    }

    mutating func convergeAll(of app: Int, at now: Instant) {
        for index in managers.indices where managers[index].app == app { converge(index, at: now) }
    }

    private mutating func freeze(_ app: Int, at now: Instant) {
        let wasInForeground = apps[app].isInForeground
        apps[app].state = .suspended
        if apps[app].hasOverrun {
            apps[app].hasOverrun = false
            apps[app].wakeNotBefore = now.advanced(by: apps[app].wakeDelay(longest: settings.longestWakeDelay))
        }
        emit(.process(.suspend, apps[app].id))
        if wasInForeground { convergeAll(of: app, at: now) }
    }

    /// An event is there for an app that does not run.
    mutating func wake(_ app: Int, at now: Instant) {
        guard apps[app].state == .suspended else { return }
        if let notBefore = apps[app].wakeNotBefore, notBefore > now {
            apps[app].wantsWake = true
            return
        }
        apps[app].wakeNotBefore = nil
        apps[app].wantsWake = false
        apps[app].state = .woken(since: now, isExpiring: false)
        emit(.process(.resume, apps[app].id))
        flush(app)
    }

    /// An event is there for an app that has no process (SPEC SPR-5, SPR-31).
    mutating func relaunch(_ app: Int, at now: Instant) {
        guard apps[app].state == .notRunning, !apps[app].mayNotRelaunch else { return }
        if let notBefore = apps[app].wakeNotBefore, notBefore > now {
            apps[app].wantsWake = true
            return
        }
        apps[app].wakeNotBefore = nil
        apps[app].wantsWake = false
        let kept = managers.filter { $0.app == app && $0.id == nil && $0.snapshot?.hasTasks ?? false }
        let options = LaunchOptions(
            centrals: kept.filter { $0.role == .central }.compactMap(\.restoreIdentifier),
            peripherals: kept.filter { $0.role == .peripheral }.compactMap(\.restoreIdentifier))
        guard !options.isEmpty else { return }
        apps[app].launchOptions = options
        apps[app].state = .relaunching(deadline: now.advanced(by: settings.relaunchPatience))
        emit(.process(.relaunch(options), apps[app].id))
    }

    // MARK: Time

    func deadline(of app: App) -> Instant? {
        var deadline: Instant? = app.wantsWake ? app.wakeNotBefore : nil
        switch app.state {
        case .background(let until): deadline = earlier(deadline, until)
        case .relaunching(let limit): deadline = earlier(deadline, limit)
        case .woken(let since, let isExpiring):
            let end = since.advanced(by: settings.wakeBudget)
            deadline = earlier(deadline, isExpiring ? end.advanced(by: settings.freezeGrace) : end)
        case .notRunning, .foreground, .suspended: break
        }
        return deadline
    }

    mutating func advanceApps(to now: Instant) {
        for index in apps.indices {
            switch apps[index].state {
            case .background(let until) where until <= now: freeze(index, at: now)
            case .relaunching(let limit) where limit <= now:
                apps[index].state = .notRunning
                apps[index].strike(at: now, window: settings.strikeWindow)
                apps[index].wakeNotBefore = now.advanced(by: apps[index].wakeDelay(longest: settings.longestWakeDelay))
                apps[index].wantsWake = true
            case .woken(let since, let isExpiring):
                checkBudget(index, at: now)
                let end = since.advanced(by: settings.wakeBudget).advanced(by: settings.freezeGrace)
                if isExpiring, end <= now, apps[index].runs { freeze(index, at: now) }
            default: break
            }
            if apps[index].wantsWake, let notBefore = apps[index].wakeNotBefore, notBefore <= now {
                wake(index, at: now)
                relaunch(index, at: now)
            }
        }
    }

    /// Whoever runs longer than it may is warned, and ended when it does so again and again (SPEC BGX-4, BGX-5).
    private mutating func checkBudget(_ app: Int, at now: Instant) {
        guard case .woken(let since, false) = apps[app].state, since.advanced(by: settings.wakeBudget) <= now else {
            return
        }
        apps[app].state = .woken(since: since, isExpiring: true)
        apps[app].strike(at: now, window: settings.strikeWindow)
        let strikes = apps[app].strikes.count
        log(.wakeBudgetExceeded(strikes: strikes), app)
        emit(.process(.expiring, apps[app].id))
        guard strikes >= settings.strikeLimit else { return }
        let id = apps[app].id
        emit(.process(.terminate, id))
        apps[app].wakeNotBefore = now.advanced(by: apps[app].wakeDelay(longest: settings.longestWakeDelay))
        ended(id, .terminatedBySystem, at: now)
    }
}
