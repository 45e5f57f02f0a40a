import BLEHost

/// The topics for which the broker refused a message for the moment. Each waits, longer after each refusal, and its
/// messages are sent again in order.
public struct RefusedTopics: Sendable {
    private struct Topic {
        /// All in a row, which the pause depends on.
        var refusals: Int
        /// Those for reasons that may never end.
        var doubtful: Int
        var due: Instant
    }

    /// What happens to a message that was refused.
    public enum Outcome: Equatable, Sendable {
        /// It is sent again later.
        case kept
        /// It is given up.
        case dropped
    }

    private var topics: [String: Topic] = [:]
    private let limit: Int

    private static let firstPause = Microseconds.seconds(1)
    private static let longestPause = Microseconds.seconds(60)

    /// - Parameter limit: the maximum number of topics; if there are more, everything waits for the next that is due.
    public init(limit: Int = 8192) { self.limit = max(1, limit) }

    /// The number of topics.
    public var count: Int { topics.count }
    public var isEmpty: Bool { topics.isEmpty }

    /// Notes that a message for the topic was refused.
    /// - Parameter attempts: after so many refusals in a row the topic's messages are dropped; `nil`: never.
    public mutating func refused(_ topic: String, attempts: Int?, at now: Instant) -> Outcome {
        var known = topics[topic] ?? Topic(refusals: 0, doubtful: 0, due: now)
        known.refusals += 1
        if attempts != nil { known.doubtful += 1 }
        // After that the topic's next messages have one attempt each, until one is accepted.
        let isFinal = attempts.map { known.doubtful >= $0 } ?? false
        let shift = min(known.refusals - 1, 6)
        let pause = isFinal ? 0 : min(Self.longestPause.rawValue, Self.firstPause.rawValue << shift)
        known.due = now.advanced(by: .microseconds(pause))
        if topics[topic] != nil || topics.count < limit { topics[topic] = known }
        return isFinal ? .dropped : .kept
    }

    /// Notes that a message for the topic was accepted.
    public mutating func accepted(_ topic: String) { if !topics.isEmpty { topics[topic] = nil } }

    /// The broker may have been changed since the last session: everything is tried at once.
    public mutating func sessionBegan() { topics.removeAll() }

    /// Whether messages for the topic have to wait.
    public func waits(_ topic: String, at now: Instant) -> Bool {
        guard !topics.isEmpty else { return false }
        if let known = topics[topic] { return known.due > now }
        guard topics.count >= limit, let next = nextDue(after: now) else { return false }
        return next > now
    }

    /// When the next topic may be tried again; `nil`: none waits.
    public func nextDue(after now: Instant) -> Instant? { topics.values.lazy.map(\.due).filter { $0 > now }.min() }

    /// Forgets topics whose time came long ago: no message waits for them.
    public mutating func forgetOld(at now: Instant) {
        topics = topics.filter { $0.value.due.advanced(by: .seconds(600)) > now }
    }
}
