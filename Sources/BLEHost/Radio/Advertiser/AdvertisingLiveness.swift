import BLEPackets

/// When to find out whether the controller still advertises: after a reset of its own it has forgotten everything and
/// reports nothing, so that nobody would notice.
///
/// Scanning shows that by itself: reports come. Otherwise one command that changes nothing is sent now and then. The
/// extended commands have one that only a forgotten set refuses. The legacy ones have only a command that is refused
/// while advertising is on; if it is accepted, advertising begins anew and the command follows once more, because a
/// controller that always accepts it shows nothing.
struct AdvertisingLiveness {
    static let interval: Microseconds = .seconds(300)
    static let verification: Microseconds = .seconds(1)

    enum Verdict: Equatable { case alive, restart, forgotten }

    /// When to ask next; `nil`: nothing is to be asked.
    private(set) var deadline: Instant?
    private var isAsking = false
    private var isVerifying = false
    /// Whether the controller accepts what it has to refuse.
    private var isLenient = false

    /// - Parameter canAsk: whether something is advertised about which the controller can be asked.
    mutating func follow(canAsk: Bool, at now: Instant) {
        guard canAsk, !isLenient else {
            deadline = nil
            return
        }
        if deadline == nil, !isAsking {
            deadline = now.advanced(by: isVerifying ? Self.verification : Self.interval)
        }
    }

    /// - Returns: whether to ask now.
    /// - Parameter report: when the last report came.
    mutating func advance(to now: Instant, lastReport report: Instant) -> Bool {
        guard let due = deadline, due <= now else { return false }
        let next = report.advanced(by: Self.interval)
        if !isVerifying, next > now {
            deadline = next
            return false
        }
        (deadline, isAsking) = (nil, true)
        return true
    }

    /// Nothing could be asked.
    mutating func postpone(at now: Instant) {
        isAsking = false
        deadline = now.advanced(by: Self.verification)
    }

    /// The controller answered the extended command.
    mutating func answered(_ status: HCIStatus) -> Verdict {
        isAsking = false
        return status == .unknownAdvertisingIdentifier ? .forgotten : .alive
    }

    /// The controller answered the legacy command.
    /// - Parameter isAdvertising: whether advertising should still be on.
    mutating func answeredParameters(_ status: HCIStatus, isAdvertising: Bool) -> Verdict {
        isAsking = false
        guard isAdvertising else { return .alive }
        switch (isVerifying, status.isSuccess) {
        case (false, false): return .alive
        case (false, true):
            isVerifying = true
            return .restart
        case (true, let isAccepted):
            isVerifying = false
            isLenient = isAccepted
            return isAccepted ? .alive : .forgotten
        }
    }
}
