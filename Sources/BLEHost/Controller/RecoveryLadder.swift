/// The steps to recover a controller that no longer works: reset, reopen the transport, reset the device, give up
/// (pain 6).
///
///     works for 60 s
///       │   ▲
///       ▼   │                ready, and falls again: once more
///     reset ──▶ reopen the transport ──▶ reset the device ──▶ give up
///         │            ▲   │                  ▲
///         └─ not ready ┘   └──── not ready ───┘
///
/// A step is judged by whether what was wanted works again. A short success does not bring the first step back: only a
/// controller that has worked for a while starts again there.
struct RecoveryLadder {
    enum Step: Equatable { case reset, reopenTransport, resetDevice, giveUp }

    /// How long the controller must work before its earlier failures are forgotten.
    static let stablePeriod: Microseconds = .seconds(60)
    /// How often a step that makes the controller ready is taken.
    private static let attempts = 2

    private let canReset: Bool
    private var step: Step?
    private var attempt = 0
    private var readySince: Instant?

    init(canReset: Bool) { self.canReset = canReset }

    /// Whether the controller has not failed since the engine began, or since it has worked for a while.
    func isFresh(at now: Instant) -> Bool { step == nil || hasWorked(until: now) }

    private func hasWorked(until now: Instant) -> Bool {
        readySince.map { $0.advanced(by: Self.stablePeriod) <= now } ?? false
    }

    /// The controller failed; returns what to do now.
    /// - Parameters:
    ///   - lastWorked: until when what failed has worked; `nil`: until now.
    ///   - isRepeatable: whether a step that made the controller ready may be taken again.
    mutating func fall(at now: Instant, lastWorked: Instant? = nil, isRepeatable: Bool = true) -> Step {
        if hasWorked(until: lastWorked ?? now) { step = nil }
        let wasReadySince = readySince
        let wasReady = readySince != nil
        readySince = nil
        switch step {
        case nil:
            (step, attempt) = (canReset ? .reset : .reopenTransport, 1)
        case let current? where wasReady && isRepeatable && attempt < Self.attempts && current != .giveUp:
            attempt += 1
        case .reset?: (step, attempt) = (.reopenTransport, 1)
        case .reopenTransport?: (step, attempt) = (.resetDevice, 1)
        case .resetDevice?, .giveUp?:
            step = .giveUp
            // It goes on as it is if its owner wants that.
            readySince = wasReadySince
        }
        return step ?? .giveUp
    }

    mutating func isReady(at now: Instant) { readySince = now }
}
