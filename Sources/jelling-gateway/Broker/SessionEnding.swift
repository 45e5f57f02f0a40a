import BLEGateway

/// How a session ended, or why it could not begin.
struct SessionEnding {
    var text: String
    /// What the broker said; `nil`: nothing.
    var reason: BrokerReason?
    /// Whether the broker accepted the session, and it ended soon after that.
    var wasShort: Bool
}
