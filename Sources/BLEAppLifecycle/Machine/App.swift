import BLEHost
import BLEPackets

/// One app and what its process is at (SPEC 5.4).
///
///     notRunning ──launch──▶ foreground ◀──▶ background ──idle──▶ suspended ◀──▶ woken (budget)
///         │                                                          end, from anywhere, to notRunning
///         └──event of a preserved manager──▶ relaunching ──launch──▶ woken
struct App {
    enum State: Equatable {
        case notRunning
        case relaunching(deadline: Instant)
        case foreground
        /// Runs on for a while after it left the foreground.
        case background(until: Instant)
        /// Was woken for an event.
        case woken(since: Instant, isExpiring: Bool)
        case suspended
    }

    let id: AppID
    var manifest: AppManifest
    var state = State.notRunning
    /// Greater than that of every app that was in the foreground earlier; 0 for never.
    var lastForeground: UInt64 = 0
    /// When it overran its budget, in order.
    var strikes: [Instant] = []
    /// Whether it overran since it was woken last.
    var hasOverrun = false
    /// Not woken or relaunched before.
    var wakeNotBefore: Instant?
    /// Whether an event waits for `wakeNotBefore`.
    var wantsWake = false
    /// Bluetooth was switched off while it did not run: only the user brings it back (SPEC SPR-30).
    var mayNotRelaunch = false
    var launchOptions = LaunchOptions()

    init(_ manifest: AppManifest) {
        id = manifest.app
        self.manifest = manifest
    }

    var isInForeground: Bool { state == .foreground }

    var hasProcess: Bool {
        switch state {
        case .notRunning, .relaunching: false
        case .foreground, .background, .woken, .suspended: true
        }
    }

    /// Whether its process runs now.
    var runs: Bool {
        switch state {
        case .foreground, .background, .woken: true
        case .notRunning, .relaunching, .suspended: false
        }
    }

    /// Whether events of a role reach it now.
    func hears(_ role: ManagerRole) -> Bool {
        isInForeground || runs && manifest.backgroundModes.contains(BackgroundModes(role))
    }

    mutating func strike(at now: Instant, window: Microseconds) {
        strikes.removeAll { $0.advanced(by: window) <= now }
        strikes.append(now)
        hasOverrun = true
    }

    /// 2ⁿ s for n overruns, up to `longest`.
    func wakeDelay(longest: Microseconds) -> Microseconds {
        let seconds: Int64 = 1 << Int64(min(strikes.count, 20))
        return min(.microseconds(seconds * 1_000_000), longest)
    }
}
