import BLEPackets

/// Links that have just ended: a controller that reports an end twice must not end the next link with the same handle.
struct RecentEnds {
    private struct End {
        var event: DisconnectionComplete
        var time: Instant
    }

    private static let limit = 8
    private var ends: [End] = []

    /// A link has ended.
    /// - Returns: whether the event may be about the link before, whose end was reported in the same words just now.
    mutating func record(_ event: DisconnectionComplete, at now: Instant) -> Bool {
        ends.removeAll { $0.time.advanced(by: Link.repetitionSpan) <= now }
        let mayRepeat = ends.contains { $0.event == event }
        ends.removeAll { $0.event.connectionHandle == event.connectionHandle }
        if ends.count >= Self.limit { ends.removeFirst() }
        ends.append(End(event: event, time: now))
        return mayRepeat
    }
}
