import BLEHost
import BLEPackets

/// One app and the state of its process (SPEC 5.4).
///
///     notRunning ──launch──▶ foreground ◀──▶ background ──idle──▶ suspended ◀──▶ woken (budget)
///         │                                                          end, from anywhere, to notRunning
///         └──event of a preserved manager──▶ relaunching ──launch──▶ woken
///
/// A wake has a time budget. An app that exceeds it gets a strike and a warning, and is suspended after a grace period.
/// It is not woken again for 2ⁿ s, and is terminated after too many strikes (SPEC BGX-4, BGX-5).
struct App {
    enum State: Equatable {
        case notRunning
        case relaunching(deadline: Instant)
        case foreground
        /// Continues to run for a while after it left the foreground.
        case background(until: Instant)
        /// Was woken for an event.
        case woken(since: Instant, isExpiring: Bool)
        case suspended
    }

    /// The result of a check of an app.
    enum Change: Equatable {
        case none
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
    private var mayNotRelaunch = false
    private(set) var launchOptions = LaunchOptions()

    init(_ manifest: AppManifest) {
        id = manifest.app
        self.manifest = manifest
    }

    // MARK: What it is at

    var isInForeground: Bool { state == .foreground }

    var isWoken: Bool { if case .woken = state { true } else { false } }

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
    func hears(_ role: ManagerRole) -> Bool { isInForeground || runs && hasMode(role) }

    // MARK: The process

    /// - Parameter foreground: its number in the order of apps in the foreground; `nil` if it is in the background.
    mutating func launched(foreground: UInt64?, at now: Instant) {
        if case .relaunching = state {} else { launchOptions = LaunchOptions() }
        mayNotRelaunch = false
        wantsWake = false
        if let foreground {
            enterForeground(foreground)
        } else {
            state = .woken(since: now, isExpiring: false)
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
        state = .background(until: end)
        hasOverrun = false
    }

    /// Suspends the app's process.
    mutating func freeze(at now: Instant, _ settings: LifecycleSettings) {
        state = .suspended
        guard hasOverrun else { return }
        hasOverrun = false
        delayWake(at: now, settings)
    }

    mutating func ended() {
        state = .notRunning
        launchOptions = LaunchOptions()
    }

    /// Bluetooth was turned off or on.
    mutating func powerSwitched() {
        if !hasProcess { mayNotRelaunch = true }
    }

    // MARK: Waking

    /// An event waits while the app's process is suspended.
    /// - Returns: whether it runs now.
    mutating func wake(at now: Instant) -> Bool {
        guard state == .suspended, mayWake(at: now) else { return false }
        state = .woken(since: now, isExpiring: false)
        return true
    }

    /// An event waits and the app has no process (SPEC SPR-5, SPR-31).
    /// - Parameter options: the launch options; empty if nothing is preserved.
    /// - Returns: whether to launch it now.
    mutating func relaunch(_ options: LaunchOptions, at now: Instant, _ settings: LifecycleSettings) -> Bool {
        guard state == .notRunning, !mayNotRelaunch, mayWake(at: now), !options.isEmpty else { return false }
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
        let wake = wantsWake ? wakeNotBefore : nil
        switch state {
        case .background(let until): return earliest(wake, until)
        case .relaunching(let limit): return earliest(wake, limit)
        case .woken(let since, let isExpiring):
            let end = since.advanced(by: wakeBudget(settings))
            return earliest(wake, isExpiring ? end.advanced(by: settings.freezeGrace) : end)
        case .notRunning, .foreground, .suspended: return wake
        }
    }

    /// Warns an app that exceeds its budget, and terminates it if it does so too often (SPEC BGX-4, BGX-5).
    mutating func checkBudget(at now: Instant, _ settings: LifecycleSettings) -> Change {
        guard case .woken(let since, false) = state, since.advanced(by: wakeBudget(settings)) <= now else {
            return .none
        }
        state = .woken(since: since, isExpiring: true)
        strike(at: now, settings)
        guard strikes.count >= settings.strikeLimit else { return .expiring(strikes: strikes.count) }
        delayWake(at: now, settings)
        return .terminated(strikes: strikes.count)
    }

    /// Whether the app has run for as long as it may.
    func isFreezeDue(at now: Instant, _ settings: LifecycleSettings) -> Bool {
        switch state {
        case .background(let until): until <= now
        case .woken(let since, true):
            since.advanced(by: wakeBudget(settings)).advanced(by: settings.freezeGrace) <= now
        case .woken, .notRunning, .relaunching, .foreground, .suspended: false
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
