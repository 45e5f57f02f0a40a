/// Finds out whether scanning on LE Coded is what makes a controller deaf, as with some that claim to know it (Linux
/// btintel.c and hci_bcm4377.c).
///
///     idle ──silence on LE Coded──▶ without it ──reports──▶ with it again ──silence──▶ the controller cannot do it
///                                       │ silence                │ reports
///                                       └────────▶ over ◀────────┘
///
/// A device may appear just when the scan changes. So the trial goes back once, before what it finds is kept.
struct CodedScanTrial {
    enum State: Equatable {
        case idle
        /// - Parameter before: the number of reports when this began.
        case without(end: Instant, before: UInt64)
        /// - Parameter others: the number of reports that came without LE Coded.
        case again(end: Instant, before: UInt64, others: UInt64)
        case over
    }

    enum Verdict: Equatable { case open, isDeaf, isNotDeaf }

    static let spanWithout: Microseconds = .seconds(20)
    static let spanAgain: Microseconds = .seconds(10)
    private static let fewestReports: UInt64 = 10

    private(set) var state = State.idle

    var isWithoutCodedPHY: Bool { if case .without = state { true } else { false } }

    var nextDeadline: Instant? {
        switch state {
        case .without(let end, _), .again(let end, _, _): end
        case .idle, .over: nil
        }
    }

    /// Begins, unless it has been there.
    mutating func begin(reports: UInt64, at now: Instant) -> Bool {
        guard state == .idle else { return false }
        state = .without(end: now.advanced(by: Self.spanWithout), before: reports)
        return true
    }

    /// Continues when its time has come.
    mutating func advance(reports: UInt64, at now: Instant) -> Verdict {
        switch state {
        case .without(let end, let before) where end <= now:
            let others = reports &- before
            guard others >= Self.fewestReports else {
                state = .over
                return .isNotDeaf
            }
            state = .again(end: now.advanced(by: Self.spanAgain), before: reports, others: others)
            return .open
        case .again(let end, let before, let others) where end <= now:
            state = .over
            // A few come while the scan changes.
            return (reports &- before) &* 20 < others ? .isDeaf : .isNotDeaf
        case .idle, .over, .without, .again: return .open
        }
    }

    /// The scan that was tried has ended: nothing is known.
    mutating func cancel() { if nextDeadline != nil { state = .idle } }
}
