/// How often the controller is recovered for faults that devices nearby can cause, too: a peer that acknowledges
/// nothing, or one that is received and accepts no connection. Without a limit, two such devices could take all links
/// from this host again and again, and climb the whole recovery ladder.
///
/// Three recoveries may follow each other, which are the steps of the ladder; after that there is one in each
/// `interval`.
struct RecoveryLimit {
    static let burst: Int64 = 3
    static let interval: Microseconds = .seconds(1800)

    /// When all of them are free again.
    private var rested = Instant.zero

    /// Uses one of them up.
    /// - Returns: `false` if none is left.
    mutating func spend(at now: Instant) -> Bool {
        guard rested.microseconds - (Self.burst - 1) * Self.interval.rawValue <= now.microseconds else { return false }
        rested = max(rested, now).advanced(by: Self.interval)
        return true
    }
}
