import BLEHost

/// Processes of apps: launch, foreground, background, suspension, end (SPEC 5.4, BGX-2 to BGX-5).
extension AppLifecycle {
    /// Declares an app. An undeclared app has no background mode.
    public mutating func declare(_ manifest: AppManifest) {
        let isKnown = runtime.apps.index(of: manifest.app) != nil
        let app = peers.known(manifest.app, &runtime)
        if isKnown {
            if runtime.declare(manifest, app, &peers.directory) { finish() }
        } else {
            runtime.apps[app].manifest = manifest
        }
    }

    /// The process of an app runs: the first input of each process.
    public mutating func launched(_ id: AppID, inForeground: Bool, at now: Instant) {
        runtime.effects.now = now
        runtime.launched(peers.known(id, &runtime), inForeground: inForeground)
        finish()
    }

    /// The app comes to the foreground. If its process was suspended, it is resumed and receives all waiting events
    /// (SPEC FGO-5).
    public mutating func enterForeground(_ id: AppID, at now: Instant) {
        runtime.effects.now = now
        if runtime.enterForeground(peers.known(id, &runtime)) { finish() }
    }

    /// The app goes to the background.
    public mutating func enterBackground(_ id: AppID, at now: Instant) {
        runtime.effects.now = now
        if runtime.enterBackground(peers.known(id, &runtime)) { finish() }
    }

    /// An app says that it has finished its work in the background. If it was woken, it is suspended as soon as it has
    /// handled the events that it has received and has no tasks left; otherwise it is suspended at once.
    public mutating func finished(_ id: AppID, at now: Instant) {
        guard isWoken(id), let app = runtime.apps.index(of: id) else { return suspend(id, at: now) }
        runtime.effects.now = now
        runtime.apps[app].finish()
        finish()
    }

    /// An app has begun or ended tasks that are to go on in the background.
    /// - Parameter count: how many it has begun and not ended.
    public mutating func setTasks(_ count: Int, of id: AppID, at now: Instant) {
        runtime.effects.now = now
        guard let app = runtime.apps.index(of: id), runtime.apps[app].hasProcess, runtime.apps[app].tasks != count
        else { return }
        runtime.apps[app].setTasks(count)
        finish()
    }

    /// The app is suspended, whatever it does.
    public mutating func suspend(_ id: AppID, at now: Instant) {
        runtime.effects.now = now
        if runtime.suspend(peers.known(id, &runtime), &peers.directory) { finish() }
    }

    /// The process of an app has ended. Managers with a restore identifier continue without it (SPEC SPR-4).
    public mutating func ended(_ id: AppID, _ end: ProcessEnd, at now: Instant) {
        runtime.effects.now = now
        runtime.ended(peers.known(id, &runtime), end, &peers.directory)
        finish()
    }

    /// Another app takes the identifier of this one: nothing of it is left, not even the devices that it knows.
    public mutating func abandon(_ id: AppID, at now: Instant) {
        guard let app = runtime.apps.index(of: id) else { return }
        ended(id, .forceQuit, at: now)
        peers.directory.forgetAll(of: app)
        peers.directory.writeDown(into: &runtime.effects)
        finish()
    }

    /// Gives the place of an app that does not run to the next one that becomes known.
    /// - Parameter forgetsDevices: whether its identifiers of devices may be lost; otherwise they keep its place (SPEC
    ///   REC-3).
    /// - Returns: `false` if it keeps its place: it runs, managers of it continue, or there are such identifiers.
    public mutating func release(_ id: AppID, forgettingDevices forgetsDevices: Bool, at now: Instant) -> Bool {
        runtime.effects.now = now
        guard let app = runtime.apps.index(of: id), !runtime.apps.isFree(app) else { return true }
        guard runtime.apps[app].state == .notRunning, !runtime.managers.contains(where: { $0.app == app }),
            forgetsDevices || !peers.directory.hasLastingIdentifiers(of: app)
        else { return false }
        runtime.apps.free(app)
        peers.directory.forgetAll(of: app)
        // As long as the place has this name.
        peers.directory.writeDown(into: &runtime.effects)
        finish()
        return true
    }

    /// The user has answered an alert; accepting it brings the app to the foreground (SPEC ALR-4).
    public mutating func alertAnswered(_ id: AlertID, isAccepted: Bool, at now: Instant) {
        if let alert = runtime.alerts.answer(id), isAccepted { enterForeground(alert.app, at: now) }
    }

    // MARK: Questions

    /// How often the app has exceeded its time in the background, as far as it still counts (SPEC BGX-5).
    public func strikes(of id: AppID) -> Int {
        runtime.apps.index(of: id).map { runtime.apps[$0].strikeCount(at: runtime.now, settings) } ?? 0
    }

    /// Why the app was launched; empty unless the system did it (SPEC SPR-6, SPR-7).
    public func launchOptions(of id: AppID) -> LaunchOptions {
        runtime.apps.index(of: id).map { runtime.apps[$0].launchOptions } ?? LaunchOptions()
    }

    /// The state of an app's process.
    public func place(of id: AppID) -> AppPlace {
        runtime.apps.index(of: id).map { runtime.apps[$0].place } ?? .notRunning
    }

    /// Whether the process of an app runs only because it was woken for an event (SPEC BGX-4).
    public func isWoken(_ id: AppID) -> Bool {
        runtime.apps.index(of: id).map { runtime.apps[$0].isWoken } ?? false
    }

    /// How long an app may still run; `nil` if nothing limits it, because it is in the foreground.
    public func remainingTime(of id: AppID, at now: Instant) -> Microseconds? {
        guard let app = runtime.apps.index(of: id) else { return .zero }
        return runtime.apps[app].remaining(at: now, settings)
    }
}
