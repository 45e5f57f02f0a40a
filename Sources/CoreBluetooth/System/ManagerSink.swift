import BLEAppLifecycle

/// Delivers events to one manager, and counts which of them it has handled.
struct ManagerSink {
    let deliver: @Sendable ([ClientEvent]) -> Void
    private var delivered: UInt64 = 0
    private var handled: UInt64 = 0
    /// The oldest unhandled events, whose machine is gone.
    private var forgotten: UInt64 = 0

    /// Events that were handled but not yet reported to the apps' machine.
    private var returned = (events: 0, octets: 0)
    /// While the machine withholds events: it continues when at most this many are unhandled.
    private var resumesAt: UInt64?

    init(deliver: @escaping @Sendable ([ClientEvent]) -> Void) { self.deliver = deliver }

    /// Whether everything that was delivered is handled, and the machine does not know it.
    var isNewlyIdle: Bool { handled >= delivered && returned.events > 0 }

    mutating func countDelivered(_ count: Int) { delivered += UInt64(count) }

    /// The manager has handled so many events.
    /// - Returns: whether the machine waits for that; `nil` if it counts none of them.
    mutating func handle(events count: Int, octets: Int) -> Bool? {
        handled += UInt64(count)
        // The oldest are handled first. Their octets do not matter: only a daemon's events are ever forgotten, and it
        // counts octets itself.
        let old = min(UInt64(count), forgotten)
        forgotten -= old
        guard old < UInt64(count) else { return nil }
        returned.events += count - Int(old)
        returned.octets += octets
        guard let resumesAt, delivered - handled <= resumesAt else { return false }
        self.resumesAt = nil
        return true
    }

    /// Counts an event that the manager does not receive as handled.
    mutating func skip() { returned.events += 1 }

    /// Whether so many are handled, or all, that it is worth a message.
    func isWorthReporting(_ group: Int) -> Bool { handled >= delivered || returned.events >= group }

    mutating func drainHandled() -> (events: Int, octets: Int) {
        defer { returned = (0, 0) }
        return returned
    }

    /// The machine that delivered the unhandled events is gone.
    mutating func forget() {
        forgotten = delivered - handled
        returned = (0, 0)
    }

    /// - Returns: whether everything has been handled already, so that no later call would continue the machine.
    mutating func withhold() -> Bool {
        resumesAt = delivered > handled ? (delivered - handled) / 2 : nil
        return resumesAt == nil
    }
}
