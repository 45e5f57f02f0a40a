import BLEPackets

/// Looks for the answer to HCI Reset among octets whose framing is not known: the one place at which a stream of H4
/// packets can be entered again (Core 5.4, Vol 4, Part A, 2 has no other means).
///
/// A peer can put the octets of such an answer into its data, and behind them octets of events that never happened. So
/// the answer counts only if nothing came before it, or if the line is quiet behind it, as a controller is that has
/// just been reset: its data would go on.
struct ResetAnswerSearch {
    /// How long the line must be quiet behind an answer that other octets preceded.
    static let quietMicroseconds: UInt64 = 50_000
    /// How long the search may take once octets have come.
    static let limitMicroseconds: UInt64 = 3_000_000
    /// How many octets the search may discard.
    static let maximumByteCount = 1 << 20

    /// Command Complete of HCI Reset: the fourth octet has the credits, the last one the status.
    private static let answerByteCount = 7
    /// What may follow within the quiet time: a second answer, or a vendor's word about the start.
    private static let maximumFollowerByteCount = 64

    /// The octet that was no packet type; `nil` if the search did not begin with one.
    let cause: UInt8?
    /// Octets that were discarded.
    private(set) var discardedByteCount = 0
    /// What may be the beginning of an answer, or an answer and what followed.
    private(set) var candidate: [UInt8] = []
    /// Whether an answer is possible: the host has sent Reset since the search began.
    var isResetSent = false
    /// When the first octet came.
    private var start: UInt64?
    private var latest: UInt64 = 0

    /// - Parameters:
    ///   - discarded: octets that were dropped before the search began.
    ///   - start: when they came; `nil` if there are none.
    init(cause: UInt8?, discarded: Int, since start: UInt64?) {
        self.cause = cause
        discardedByteCount = discarded
        self.start = start
    }

    /// A search that begins before any octet has come.
    init() { self.init(cause: nil, discarded: 0, since: nil) }

    /// When to call `advance`; `nil` if only octets can change something.
    var nextDeadline: UInt64? {
        if hasAnswer { return latest + Self.quietMicroseconds }
        return start.map { $0 + Self.limitMicroseconds }
    }

    /// Whether the search has taken too long or too much.
    func isOver(at now: UInt64) -> Bool {
        guard let start, !hasAnswer else { return false }
        return now >= start + Self.limitMicroseconds || discardedByteCount > Self.maximumByteCount
    }

    /// Whether the line has been quiet for long enough behind an answer. What followed must be whole packets.
    mutating func isProven(at now: UInt64) -> Bool {
        guard hasAnswer, now >= latest + Self.quietMicroseconds else { return false }
        if Self.followers(of: candidate) == .whole { return true }
        dropFirst()
        settle()
        return false
    }

    /// Takes octets until an answer is proven that nothing preceded.
    /// - Returns: how many were taken; then `candidate` is the answer if `isImmediate`.
    mutating func receive(_ chunk: RawSpan, at now: UInt64) -> (taken: Int, isImmediate: Bool) {
        latest = now
        if start == nil { start = now }
        var taken = 0
        while let octet = chunk.byte(at: taken) {
            taken += 1
            if candidate.isEmpty, octet != H4PacketType.event.rawValue {
                discardedByteCount += 1
            } else {
                candidate.append(octet)
                settle()
            }
            if hasAnswer, discardedByteCount == 0, candidate.count == Self.answerByteCount { return (taken, true) }
            if discardedByteCount > Self.maximumByteCount { break }
        }
        return (taken, false)
    }

    // MARK: The candidate

    private var hasAnswer: Bool { candidate.count >= Self.answerByteCount }

    private mutating func dropFirst() {
        candidate.removeFirst()
        discardedByteCount += 1
    }

    /// Drops octets from the front until the rest can be an answer with what may follow it.
    private mutating func settle() {
        while !candidate.isEmpty, !Self.canBeAnswer(candidate, isResetSent: isResetSent) { dropFirst() }
    }

    private static func canBeAnswer(_ octets: [UInt8], isResetSent: Bool) -> Bool {
        let pattern: [UInt8?] = [0x04, 0x0E, 0x04, nil, 0x03, 0x0C, nil]
        for (octet, wanted) in zip(octets, pattern) where wanted != nil && wanted != octet { return false }
        guard octets.count >= answerByteCount else { return true }
        return isResetSent && followers(of: octets) != .foreign
    }

    private enum Followers { case whole, unfinished, foreign }

    /// What the octets behind the answer are.
    private static func followers(of octets: [UInt8]) -> Followers {
        guard octets.count <= answerByteCount + maximumFollowerByteCount else { return .foreign }
        var position = answerByteCount
        while position < octets.count {
            guard octets[position] == H4PacketType.event.rawValue else { return .foreign }
            guard position + 1 < octets.count else { return .unfinished }
            let code = HCIEventCode(rawValue: octets[position + 1])
            guard code == .commandComplete || code == .commandStatus || code.rawValue == 0xFF else { return .foreign }
            guard position + 2 < octets.count else { return .unfinished }
            position += 3 + Int(octets[position + 2])
        }
        return position == octets.count ? .whole : .unfinished
    }
}
