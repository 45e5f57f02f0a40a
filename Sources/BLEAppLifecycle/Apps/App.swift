import BLEHost

/// One app and the state of its process (SPEC 5.4).
///
///     notRunning ──launch──▶ foreground ◀──▶ background ──idle──▶ suspended ◀──▶ woken (budget)
///         │                                                          end, from anywhere, to notRunning
///         └──event of a preserved manager──▶ relaunching ──launch──▶ woken
///
/// A wake has a time budget (`Wake`). An app that is idle at its end is suspended. One that is at work gets a strike
/// and a warning, and is suspended after a grace period. It is not woken again for 2ⁿ s, and is terminated after too
/// many strikes (SPEC BGX-4, BGX-5). An app that only has tasks gets the warning first, and the strike if it does not
/// end them in the grace period.
struct App {
    enum State: Equatable {
        case notRunning
        case relaunching(deadline: Instant)
        case foreground
        /// Continues to run for a while after it left the foreground.
        /// - Parameters:
        ///   - planned: the end without events that came meanwhile.
        ///   - isExpiring: whether the time is over and tasks have been warned.
        case background(until: Instant, planned: Instant, isExpiring: Bool)
        /// Was woken for an event.
        case woken(Wake)
        case suspended
    }

    /// The result of a check of an app.
    enum Change: Equatable {
        case none
        /// Its time is over, and it has nothing to do.
        case idle
        /// Its time is over, and it must be asked to end its tasks.
        case ending
        /// It has run too long and must be warned.
        case expiring(strikes: Int)
        /// It has exceeded its budget too often.
        case terminated(strikes: Int)
    }

    let id: AppID
    var manifest: AppManifest
    private(set) var state = State.notRunning
    /// The order of apps in the foreground: the latest has the greatest number; 0 for never.
    private(set) var lastForeground: UInt64 = 0
    /// When the app exceeded its budget, in order.
    private var strikes: [Instant] = []
    /// Whether the app has exceeded its budget since the last wake.
    private var hasOverrun = false
    /// The app is not woken or relaunched before this time.
    private var wakeNotBefore: Instant?
    /// Whether an event waits for `wakeNotBefore`.
    private var wantsWake = false
    /// Bluetooth was turned off or on while the app did not run: only the user may launch it (SPEC SPR-30).
    private(set) var onlyUserMayLaunch = false
    private(set) var launchOptions = LaunchOptions()
    /// How many tasks it has begun and not ended.
    private(set) var tasks = 0

    init(_ manifest: AppManifest) {
        id = manifest.app
        self.manifest = manifest
    }

    // MARK: What it is at

    var place: AppPlace {
        switch state {
        case .notRunning: .notRunning
        case .relaunching: .relaunching
        case .foreground: .foreground
        case .background: .background
        case .woken: .woken
        case .suspended: .suspended
        }
    }

    var isInForeground: Bool { state == .foreground }

    var isWoken: Bool { wake != nil }

    /// Whether it may be suspended as soon as it has nothing to do.
    var mayEndEarly: Bool {
        switch state {
        case .woken, .background(_, _, isExpiring: true): true
        case .background, .notRunning, .relaunching, .foreground, .suspended: false
        }
    }

    private var wake: Wake? { if case .woken(let wake) = state { wake } else { nil } }

    private mutating func changeWake(_ body: (inout Wake) -> Void) {
        guard var wake else { return }
        body(&wake)
        state = .woken(wake)
    }

    var hasProcess: Bool {
        switch state {
        case .notRunning, .relaunching: false
        case .foreground, .background, .woken, .suspended: true
        }
    }

    /// Whether the app's process runs now.
    var runs: Bool {
        switch state {
        case .foreground, .background, .woken: true
        case .notRunning, .relaunching, .suspended: false
        }
    }

    /// Whether it was launched and has not reported that it runs.
    var isRelaunching: Bool { if case .relaunching = state { true } else { false } }

    func hasMode(_ role: ManagerRole) -> Bool { manifest.backgroundModes.contains(BackgroundModes(role)) }

    /// Whether the app can receive events for this role now.
    func receives(_ role: ManagerRole) -> Bool { isInForeground || runs && hasMode(role) }

    // MARK: The process

    /// - Parameter foreground: its number in the order of apps in the foreground; `nil` if it is in the background.
    mutating func launched(foreground: UInt64?, at now: Instant) {
        if case .relaunching = state {} else { launchOptions = LaunchOptions() }
        onlyUserMayLaunch = false
        wantsWake = false
        tasks = 0
        if let foreground {
            enterForeground(foreground)
        } else {
            state = .woken(Wake(at: now, isLaunch: true))
            hasOverrun = false
        }
    }

    mutating func enterForeground(_ turn: UInt64) {
        state = .foreground
        lastForeground = turn
        strikes = []
        wakeNotBefore = nil
        wantsWake = false
    }

    mutating func enterBackground(until end: Instant) {
        state = .background(until: end, planned: end, isExpiring: false)
        hasOverrun = false
    }

    /// The app gets an event, for which it has the time of a wake.
    mutating func took(at now: Instant, _ settings: LifecycleSettings) {
        switch state {
        case .woken: changeWake { $0.took(at: now) }
        case .background(let end, let planned, false):
            let budget = wakeBudget(settings)
            let later = min(now.advanced(by: budget), planned.advanced(by: budget))
            state = .background(until: max(end, later), planned: planned, isExpiring: false)
        case .background, .notRunning, .relaunching, .foreground, .suspended: break
        }
    }

    /// What a woken app has not finished, apart from tasks.
    mutating func setWork(hasCalls: Bool, at now: Instant) {
        let work: Wake.Work = hasCalls ? .calls : tasks > 0 ? .tasks : .none
        changeWake { $0.setWork(work, at: now) }
    }

    /// The app has begun or ended tasks.
    mutating func setTasks(_ count: Int) {
        tasks = count
        changeWake { $0.markTasks() }
    }

    /// A woken app has said that it is done.
    mutating func finish() { changeWake { $0.finish() } }

    /// Whether an app can be suspended before its time is over.
    func isDone(at now: Instant, _ settings: LifecycleSettings) -> Bool {
        switch state {
        case .woken(let wake): wake.isDone(settings, at: now)
        case .background(_, _, isExpiring: true): tasks == 0
        case .background, .notRunning, .relaunching, .foreground, .suspended: false
        }
    }

    /// Suspends the app's process.
    /// - Parameter hasWaiting: whether events wait that it could not receive: after an overrun, it is woken for them.
    mutating func freeze(at now: Instant, _ settings: LifecycleSettings, hasWaiting: Bool = false) {
        state = .suspended
        guard hasOverrun else { return }
        hasOverrun = false
        delayWake(at: now, settings)
        if hasWaiting { wantsWake = true }
    }

    mutating func ended() {
        state = .notRunning
        tasks = 0
        launchOptions = LaunchOptions()
    }

    /// Bluetooth was turned off or on.
    mutating func powerSwitched() {
        if !hasProcess { onlyUserMayLaunch = true }
    }

    // MARK: Waking

    /// An event waits while the app's process is suspended.
    /// - Returns: whether it runs now.
    mutating func wake(at now: Instant) -> Bool {
        guard state == .suspended, mayWake(at: now) else { return false }
        state = .woken(Wake(at: now, isLaunch: false))
        return true
    }

    /// An event waits and the app has no process (SPEC SPR-5, SPR-31).
    /// - Parameter options: the launch options; empty if nothing is preserved.
    /// - Returns: whether to launch it now.
    mutating func relaunch(_ options: LaunchOptions, at now: Instant, _ settings: LifecycleSettings) -> Bool {
        guard state == .notRunning, !onlyUserMayLaunch, mayWake(at: now), !options.isEmpty else { return false }
        launchOptions = options
        state = .relaunching(deadline: now.advanced(by: settings.relaunchTimeout))
        return true
    }

    /// A wake that is not allowed now waits.
    private mutating func mayWake(at now: Instant) -> Bool {
        if let notBefore = wakeNotBefore, notBefore > now {
            wantsWake = true
            return false
        }
        wakeNotBefore = nil
        wantsWake = false
        return true
    }

    /// Whether the delay of a waiting event is over.
    func isWakeDue(at now: Instant) -> Bool { wantsWake && wakeNotBefore.map { $0 <= now } == true }

    /// Delays wakes for 2ⁿ s after n overruns, up to the limit.
    private mutating func delayWake(at now: Instant, _ settings: LifecycleSettings) {
        let seconds: Int64 = 1 << Int64(min(strikes.count, 20))
        wakeNotBefore = now.advanced(by: min(.microseconds(seconds * 1_000_000), settings.longestWakeDelay))
    }

    /// The overruns that still count.
    func strikeCount(at now: Instant, _ settings: LifecycleSettings) -> Int {
        strikes.count { $0.advanced(by: settings.strikeWindow) > now }
    }

    private mutating func strike(at now: Instant, _ settings: LifecycleSettings) {
        strikes.removeAll { $0.advanced(by: settings.strikeWindow) <= now }
        strikes.append(now)
        hasOverrun = true
    }

    // MARK: Time

    private func wakeBudget(_ settings: LifecycleSettings) -> Microseconds {
        manifest.wakeBudget ?? settings.wakeBudget
    }

    func deadline(_ settings: LifecycleSettings) -> Instant? {
        let next = wantsWake ? wakeNotBefore : nil
        switch state {
        case .background(let until, _, let isExpiring):
            return earliest(next, isExpiring ? until.advanced(by: settings.freezeGrace) : until)
        case .relaunching(let limit): return earliest(next, limit)
        case .woken(let wake): return earliest(next, wake.deadline(budget: wakeBudget(settings), settings))
        case .notRunning, .foreground, .suspended: return next
        }
    }

    /// How long the app may still run; `nil` if nothing limits it.
    func remaining(at now: Instant, _ settings: LifecycleSettings) -> Microseconds? {
        switch state {
        case .background(let until, _, _): max(.zero, now.distance(to: until))
        case .woken(let wake): wake.remaining(budget: wakeBudget(settings), at: now)
        case .foreground: nil
        case .notRunning, .relaunching, .suspended: .zero
        }
    }

    /// Warns an app that exceeds its budget, and terminates it if it does so too often (SPEC BGX-4, BGX-5).
    mutating func checkBudget(at now: Instant, _ settings: LifecycleSettings) -> Change {
        if case .background(let until, let planned, false) = state, until <= now, tasks > 0 {
            state = .background(until: until, planned: planned, isExpiring: true)
            return .ending
        }
        guard let wake, wake.isBudgetOver(wakeBudget(settings), at: now) else { return .none }
        if wake.work == .none { return .idle }
        changeWake { $0.expire() }
        return wake.work == .tasks ? .ending : overrun(at: now, settings)
    }

    private mutating func overrun(at now: Instant, _ settings: LifecycleSettings) -> Change {
        strike(at: now, settings)
        guard strikes.count >= settings.strikeLimit else { return .expiring(strikes: strikes.count) }
        delayWake(at: now, settings)
        return .terminated(strikes: strikes.count)
    }

    /// Counts an overrun if the app is to be suspended although it has tasks, and was not struck for other work.
    mutating func checkTasks(at now: Instant, _ settings: LifecycleSettings) -> Change {
        tasks > 0 && !hasOverrun && isFreezeDue(at: now, settings) ? overrun(at: now, settings) : .none
    }

    /// Whether the app has run for as long as it may.
    func isFreezeDue(at now: Instant, _ settings: LifecycleSettings) -> Bool {
        switch state {
        case .background(let until, _, let isExpiring):
            (isExpiring ? until.advanced(by: settings.freezeGrace) : until) <= now && (isExpiring || tasks == 0)
        case .woken(let wake): wake.isGraceOver(wakeBudget(settings), settings, at: now)
        case .notRunning, .relaunching, .foreground, .suspended: false
        }
    }

    /// Counts an overrun if the app was launched but has not reported that it runs.
    mutating func checkRelaunch(at now: Instant, _ settings: LifecycleSettings) {
        guard case .relaunching(let limit) = state, limit <= now else { return }
        launchFailed(at: now, settings)
    }

    /// Counts an overrun: the next launch is delayed.
    mutating func launchFailed(at now: Instant, _ settings: LifecycleSettings) {
        state = .notRunning
        strike(at: now, settings)
        delayWake(at: now, settings)
        wantsWake = true
    }
}
