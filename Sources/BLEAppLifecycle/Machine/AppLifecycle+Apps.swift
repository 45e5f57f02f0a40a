import BLEHost
import BLEPackets

/// Processes: launch, foreground, background, suspension, wake, end (SPEC 5.4, BGX-2 to BGX-5).
extension AppLifecycle {
    // MARK: Inputs

    /// Declares an app. An undeclared app has no background mode.
    public mutating func declare(_ manifest: AppManifest) {
        guard let index = app(manifest.app) else {
            _ = add(App(manifest))
            return
        }
        freePlaces.removeAll { $0 == index }
        let before = apps[index].manifest
        apps[index].manifest = manifest
        // Preserved managers continue before their app is declared.
        let hidden = hiddenServices(for: index)
        for client in managers.keys where managers[client]?.app == index {
            managers[client]?.central?.hide(hidden)
        }
        if before.authorization != manifest.authorization {
            stateChanged()
        } else if before.overflow != manifest.overflow {
            convergeAll(of: index)
        } else {
            return
        }
        finish()
    }

    /// Changes whether apps send the overflow area, also of advertisements that are on the air.
    public mutating func setOverflow(_ setting: OverflowSetting, at now: Instant) {
        guard settings.overflow != setting else { return }
        self.now = now
        settings.overflow = setting
        for index in apps.indices { convergeAll(of: index) }
        finish()
    }

    /// The services of peripherals that an app does not see.
    func hiddenServices(for app: Int) -> [BluetoothUUID] {
        apps[app].manifest.showsSystemServices ? [] : settings.hiddenServices
    }

    /// How often the app has exceeded its time in the background, as far as it still counts (SPEC BGX-5).
    public func strikes(of id: AppID) -> Int { app(id).map { apps[$0].strikeCount(at: now, settings) } ?? 0 }

    /// The app and the role of the manager that is this client of the engine; `nil` if it is no manager.
    public func manager(_ client: ClientID) -> (app: AppID, role: ManagerRole)? {
        managers[client].map { (apps[$0.app].id, $0.kind) }
    }

    /// Whether an app has a manager in the peripheral role, so that centrals may use its services.
    public var serves: Bool { managers.contains { $0.kind == .peripheral } }

    /// The events that wait for an app because it does not run or has not handled earlier ones.
    public func waitingEvents(for id: AppID) -> Int {
        guard let index = app(id) else { return 0 }
        return managers.reduce(0) { $0 + ($1.app == index ? $1.queue.count : 0) }
    }

    /// The restore identifiers of the managers that continue for an app that does not run.
    public func preserved(of id: AppID) -> LaunchOptions {
        guard let index = app(id) else { return LaunchOptions() }
        let kept = managers.filter { $0.app == index && $0.id == nil && $0.snapshot != nil }
        return LaunchOptions(
            centrals: kept.filter { $0.kind == .central }.compactMap(\.restoreIdentifier),
            peripherals: kept.filter { $0.kind == .peripheral }.compactMap(\.restoreIdentifier))
    }

    /// The apps that have managers which continue without a process, in the order in which they became known.
    public var preservedApps: [AppID] {
        apps.indices.filter { index in
            managers.contains { $0.app == index && $0.id == nil && $0.snapshot != nil }
        }.map { apps[$0].id }
    }

    /// The process of an app runs: the first input of each process.
    public mutating func launched(_ id: AppID, inForeground: Bool, at now: Instant) {
        self.now = now
        let index = known(id)
        let turn = inForeground ? nextForeground() : nil
        apps[index].launched(foreground: turn, at: now)
        finish()
    }

    /// Why the app was launched; empty unless the system did it (SPEC SPR-6, SPR-7).
    public func launchOptions(of id: AppID) -> LaunchOptions {
        app(id).map { apps[$0].launchOptions } ?? LaunchOptions()
    }

    /// The state of an app's process.
    public func place(of id: AppID) -> AppPlace {
        guard let index = app(id) else { return .notRunning }
        switch apps[index].state {
        case .notRunning: return .notRunning
        case .relaunching: return .relaunching
        case .foreground: return .foreground
        case .background: return .background
        case .woken: return .woken
        case .suspended: return .suspended
        }
    }

    /// Whether any app's process runs only because it was woken.
    public var hasWoken: Bool { apps.contains { $0.isWoken } }

    /// Whether the process of an app runs only because it was woken for an event (SPEC BGX-4).
    public func isWoken(_ id: AppID) -> Bool { app(id).map { apps[$0].isWoken } ?? false }

    /// The app comes to the foreground. If its process was suspended, it is resumed and receives all waiting events
    /// (SPEC FGO-5).
    public mutating func enterForeground(_ id: AppID, at now: Instant) {
        self.now = now
        let index = known(id)
        guard apps[index].hasProcess, !apps[index].isInForeground else { return }
        let wasSuspended = apps[index].state == .suspended
        let turn = nextForeground()
        apps[index].enterForeground(turn)
        if wasSuspended { emit(.process(.resume, id)) }
        withdrawAlerts(of: index)
        convergeAll(of: index)
        flush(index)
        finish()
    }

    /// The app goes to the background.
    public mutating func enterBackground(_ id: AppID, at now: Instant) {
        self.now = now
        let index = known(id)
        guard apps[index].isInForeground else { return }
        apps[index].enterBackground(until: now.advanced(by: settings.backgroundSpan))
        convergeAll(of: index)
        finish()
    }

    /// An app says that it has finished its work in the background. If it was woken, it is suspended as soon as it has
    /// handled the events that it has received and has no tasks left; otherwise it is suspended at once.
    public mutating func finished(_ id: AppID, at now: Instant) {
        guard isWoken(id), let index = app(id) else { return suspend(id, at: now) }
        self.now = now
        apps[index].finish()
        finish()
    }

    /// An app has begun or ended tasks that are to go on in the background.
    /// - Parameter count: how many it has begun and not ended.
    public mutating func setTasks(_ count: Int, of id: AppID, at now: Instant) {
        self.now = now
        guard let index = app(id), apps[index].hasProcess, apps[index].tasks != count else { return }
        apps[index].setTasks(count)
        finish()
    }

    /// How long an app may still run; `nil` if nothing limits it, because it is in the foreground.
    public func remainingTime(of id: AppID, at now: Instant) -> Microseconds? {
        guard let index = app(id) else { return .zero }
        return apps[index].remaining(at: now, settings)
    }

    /// The app is suspended, whatever it does.
    public mutating func suspend(_ id: AppID, at now: Instant) {
        self.now = now
        let index = known(id)
        guard apps[index].runs else { return }
        checkBudget(index)
        if apps[index].runs { freeze(index) }
        finish()
    }

    /// The process of an app has ended. Managers with a restore identifier continue without it (SPEC SPR-4).
    public mutating func ended(_ id: AppID, _ end: ProcessEnd, at now: Instant) {
        self.now = now
        let index = known(id)
        if apps[index].isRelaunching, end != .forceQuit {
            // It ended before it reported that it runs. What is preserved has not changed.
            apps[index].launchFailed(at: now, settings)
            return finish()
        }
        let hadProcess = apps[index].hasProcess
        directory.writeDown(into: &effects)
        apps[index].ended()
        withdrawAlerts(of: index)
        for client in managers.keys where managers[client]?.app == index {
            // A manager that a complete run of the app did not create again is removed.
            let isForgotten = hadProcess && end != .crashed && managers[client]?.id == nil
            if end != .forceQuit, !isForgotten, preserve(client) { converge(client) } else { drop(client) }
        }
        if managers.contains(where: { $0.app == index && !$0.queue.isEmpty }) { relaunch(index) }
        finish()
    }

    /// Another app takes the identifier of this one: nothing of it is left, not even the devices that it knows.
    public mutating func abandon(_ id: AppID, at now: Instant) {
        guard let index = app(id) else { return }
        ended(id, .forceQuit, at: now)
        directory.forgetAll(of: index)
        directory.writeDown(into: &effects)
        finish()
    }

    /// Gives the place of an app that does not run to the next one that becomes known.
    /// - Parameter forgetsDevices: whether its identifiers of devices may be lost; otherwise they keep its place (SPEC
    ///   REC-3).
    /// - Returns: `false` if it keeps its place: it runs, managers of it continue, or there are such identifiers.
    public mutating func release(_ id: AppID, forgettingDevices forgetsDevices: Bool, at now: Instant) -> Bool {
        self.now = now
        guard let index = app(id), !freePlaces.contains(index) else { return true }
        guard apps[index].state == .notRunning, !managers.contains(where: { $0.app == index }),
            forgetsDevices || !directory.hasLastingIdentifiers(of: index)
        else { return false }
        freePlaces.append(index)
        directory.forgetAll(of: index)
        // As long as the place has this name.
        directory.writeDown(into: &effects)
        finish()
        return true
    }

    // MARK: Inside

    mutating func known(_ id: AppID) -> Int {
        guard let index = app(id) else { return add(App(AppManifest(app: id))) }
        freePlaces.removeAll { $0 == index }
        return index
    }

    private mutating func add(_ app: App) -> Int {
        let place = freePlaces.isEmpty ? apps.count : freePlaces.removeFirst()
        if place < apps.count { apps[place] = app } else { apps.append(app) }
        directory.add(app.id, at: place)
        return place
    }

    private mutating func convergeAll(of app: Int) {
        for client in managers.keys where managers[client]?.app == app { converge(client) }
    }

    private mutating func freeze(_ app: Int) {
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
        emit(.process(.suspend, apps[app].id))
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
                    manager.peripheral?.suspended(
                        isWaiting: { question in wakes && queue.contains { $0.question == question } }) ?? []
                if !wakes { manager.queue.removeAll { event in event.question.map { ended.contains($0) } ?? false } }
            }
            for id in ended { effects.submit(.server(.respond(id, .failure(.unlikelyError))), from: client) }
            count += ended.count
        }
        if count > 0 { log(.requestsEnded(count: count), app) }
        settle()
    }

    /// Suspends woken apps that have nothing more to do.
    mutating func endWakes() {
        for index in apps.indices where apps[index].mayEndEarly {
            noteWork(of: index)
            if apps[index].isDone(at: now, settings) { freeze(index) }
        }
    }

    /// Notes what a woken app has not finished, as far as its owner reports it.
    private mutating func noteWork(of app: Int) {
        guard apps[app].isWoken else { return }
        let (hearsCentral, hearsPeripheral) = (apps[app].hears(.central), apps[app].hears(.peripheral))
        var hasCalls = false
        managers.forEachInPlace { _, manager in
            guard manager.app == app, manager.id != nil else { return }
            let hears = manager.kind == .central ? hearsCentral : hearsPeripheral
            if manager.hasUnhandled || hears && !manager.queue.isEmpty || manager.peripheral?.owesAnswers == true {
                hasCalls = true
            }
        }
        apps[app].note(hasCalls: hasCalls, at: now)
    }

    /// An event waits for an app that does not run.
    mutating func wake(_ app: Int) {
        guard apps[app].wake(at: now) else { return }
        emit(.process(.resume, apps[app].id))
        flush(app)
    }

    /// An event waits for an app that has no process (SPEC SPR-5, SPR-31).
    mutating func relaunch(_ app: Int) {
        let kept = managers.filter { $0.app == app && $0.id == nil && $0.snapshot?.hasTasks ?? false }
        let options = LaunchOptions(
            centrals: kept.filter { $0.kind == .central }.compactMap(\.restoreIdentifier),
            peripherals: kept.filter { $0.kind == .peripheral }.compactMap(\.restoreIdentifier))
        guard apps[app].relaunch(options, at: now, settings) else { return }
        emit(.process(.relaunch(options), apps[app].id))
    }

    mutating func advanceApps() {
        for index in apps.indices {
            noteWork(of: index)
            let isFreezeDue = apps[index].isFreezeDue(at: now, settings)
            apps[index].checkRelaunch(at: now, settings)
            if isFreezeDue { act(on: apps[index].checkTasks(at: now, settings), index, isWarned: true) }
            checkBudget(index)
            if isFreezeDue, apps[index].runs { freeze(index) }
            if apps[index].isWakeDue(at: now) {
                wake(index)
                relaunch(index)
            }
        }
    }

    private mutating func checkBudget(_ app: Int) { act(on: apps[app].checkBudget(at: now, settings), app) }

    private mutating func act(on change: App.Change, _ app: Int, isWarned: Bool = false) {
        let id = apps[app].id
        switch change {
        case .none: break
        case .idle: freeze(app)
        case .ending: emit(.process(.expiring, id))
        case .expiring(let strikes):
            log(.wakeBudgetExceeded(strikes: strikes), app)
            if !isWarned { emit(.process(.expiring, id)) }
        case .terminated(let strikes):
            log(.wakeBudgetExceeded(strikes: strikes), app)
            if !isWarned { emit(.process(.expiring, id)) }
            emit(.process(.terminate, id))
            ended(id, .terminatedBySystem, at: now)
        }
    }
}
