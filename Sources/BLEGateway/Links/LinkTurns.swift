import BLEHost

/// Whose turn it is when slots for links are scarce: one who had an attempt comes after those who still wait for theirs.
struct LinkTurns {
    private struct Entry {
        /// The number of the last attempt; 0: there was none.
        var last: UInt64 = 0
        /// Until when the party counts as waiting.
        var waitsUntil = Instant.zero
        /// An attempt took the last slot and failed: others, who now see a free slot, come first.
        var hasFailed = false
        var pausesUntil: Instant?
    }

    private var entries: [LinkParty: Entry] = [:]
    private var lastTurn: UInt64 = 0

    /// So long is a place kept for one who was refused and has not asked again.
    private static let patience = Microseconds.seconds(5)
    private static let pause = Microseconds.seconds(1)
    private static let limit = 256

    /// Whether a party may take a slot now; if not, it counts as waiting.
    /// - Parameters:
    ///   - counts: the links of each party.
    ///   - hasOthers: whether there is another party that could want the slot.
    mutating func takes(
        _ party: LinkParty, free: Int, counts: [LinkParty: Int], hasOthers: Bool, at now: Instant
    ) -> Bool {
        var entry = entries[party] ?? Entry()
        if entry.hasFailed {
            entry.hasFailed = false
            if hasOthers { entry.pausesUntil = now.advanced(by: Self.pause) }
        }
        if let end = entry.pausesUntil, end <= now { entry.pausesUntil = nil }
        let ahead = entries.count { other, theirs in
            other != party && theirs.waitsUntil > now && theirs.pausesUntil.map { $0 <= now } ?? true
                && (counts[other] ?? 0, theirs.last) < (counts[party] ?? 0, entry.last)
        }
        let isGranted = entry.pausesUntil == nil && free > ahead
        if isGranted {
            lastTurn += 1
            entry.last = lastTurn
            entry.waitsUntil = .zero
        } else {
            entry.waitsUntil = now.advanced(by: Self.patience)
        }
        entries[party] = entry
        if entries.count > Self.limit, let oldest = entries.min(by: { $0.value.last < $1.value.last }) {
            entries[oldest.key] = nil
        }
        return isGranted
    }

    /// An attempt of a party that had taken the last slot has failed.
    mutating func failed(_ party: LinkParty) { entries[party]?.hasFailed = true }
}
