import BLEAppLifecycle

/// Delivers events to one manager, and counts which of them it has handled.
struct ManagerSink {
    let deliver: @Sendable (ClientEvent) -> Void
    var delivered: UInt64 = 0
    var handled: UInt64 = 0

    /// Events that were handled but not yet reported to the apps' machine.
    private var returned = (events: 0, octets: 0)
    /// While the machine holds events back: it continues when at most this many are unhandled.
    private var resumesAt: UInt64?

    init(deliver: @escaping @Sendable (ClientEvent) -> Void) { self.deliver = deliver }

    /// Whether everything that was delivered is handled, and the machine does not know it.
    var isNewlyIdle: Bool { handled >= delivered && returned.events > 0 }

    mutating func handle(octets: Int) -> Bool {
        handled += 1
        returned.events += 1
        returned.octets += octets
        guard let resumesAt, delivered - handled <= resumesAt else { return false }
        self.resumesAt = nil
        return true
    }

    mutating func takeReturned() -> (events: Int, octets: Int) {
        defer { returned = (0, 0) }
        return returned
    }

    /// - Returns: whether everything has been handled already, so that no later call would continue the machine.
    mutating func holdBack() -> Bool {
        resumesAt = delivered > handled ? (delivered - handled) / 2 : nil
        return resumesAt == nil
    }
}
