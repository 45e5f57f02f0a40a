/// How often clients may have the controller begin something again. A few changes are free, one after the other; after
/// that there is one in each `interval`, however often the wishes change.
struct ChangeLimit {
    /// How many changes may come at once after a pause.
    static let burst: Int64 = 16
    /// The time in which a further one becomes free.
    static let interval: Microseconds = .milliseconds(500)

    /// When all of them are free again.
    private var rested = Instant.zero

    /// When the next change is free; `nil`: now.
    func opens(after now: Instant) -> Instant? {
        let next = Instant(microseconds: rested.microseconds - (Self.burst - 1) * Self.interval.rawValue)
        return next <= now ? nil : next
    }

    /// A change was made.
    mutating func spend(at now: Instant) {
        // Those that cannot wait are no debt.
        guard opens(after: now) == nil else { return }
        rested = max(rested, now).advanced(by: Self.interval)
    }
}
