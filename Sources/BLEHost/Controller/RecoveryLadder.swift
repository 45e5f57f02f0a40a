/// The rungs by which a controller that no longer answers is brought back: reset, reopen the transport, give up (pain 6).
///
/// A controller that stays well for a while starts again at the lowest rung; one that falls again and again is given up
/// although each single reset seems to help.
struct RecoveryLadder {
    enum Step: Equatable { case reset, reopenTransport, giveUp }

    /// How long the controller must stay well before its past is forgotten.
    static let stablePeriod: Microseconds = .seconds(60)
    private static let maximumFalls = 5

    private let canReset: Bool
    private var rung = 0
    private var falls = 0
    private var readySince: Instant?

    init(canReset: Bool) { self.canReset = canReset }

    /// The controller failed: what is to be done now.
    mutating func fall(at now: Instant) -> Step {
        if let readySince, readySince.advanced(by: Self.stablePeriod) <= now {
            rung = 0
            falls = 0
        } else if readySince != nil {
            // It came back and fell again soon: the rung that helped then is tried again, within the bound.
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
