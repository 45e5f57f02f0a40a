/// The steps to recover a controller that no longer answers: reset, reopen the transport, give up (pain 6).
///
/// A controller that works for a while starts again at the first step. One that fails again and again is given up even
/// if each single reset seems to help.
struct RecoveryLadder {
    enum Step: Equatable { case reset, reopenTransport, giveUp }

    /// How long the controller must work before its earlier failures are forgotten.
    static let stablePeriod: Microseconds = .seconds(60)
    private static let maximumFalls = 5

    private let canReset: Bool
    private var rung = 0
    private var falls = 0
    private var readySince: Instant?

    init(canReset: Bool) { self.canReset = canReset }

    /// The controller failed; returns what to do now.
    mutating func fall(at now: Instant) -> Step {
        if let readySince, readySince.advanced(by: Self.stablePeriod) <= now {
            rung = 0
            falls = 0
        } else if readySince != nil {
            // It recovered and soon failed again: try the step that helped last time, within the limit.
            rung = max(0, rung - 1)
        }
        readySince = nil
        falls += 1
        guard falls <= Self.maximumFalls else { return .giveUp }
        if rung == 0, !canReset { rung = 1 }
        rung += 1
        switch rung {
        case 1: return .reset
        case 2: return .reopenTransport
        default: return .giveUp
        }
    }

    mutating func isReady(at now: Instant) { readySince = now }
}
