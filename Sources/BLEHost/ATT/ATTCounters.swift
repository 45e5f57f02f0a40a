/// Counts traffic of a bearer that belongs to no operation.
public struct ATTCounters: Equatable, Sendable {
    /// Responses that do not answer the request in progress, or come without one.
    public var unexpectedResponses: UInt64 = 0
    /// PDUs whose format does not match their opcode, except responses: those end their operation.
    public var malformedPDUs: UInt64 = 0
    /// PDUs longer than the ATT_MTU.
    public var oversizedPDUs: UInt64 = 0
    /// Commands of the peer that the specification does not define.
    public var ignoredCommands: UInt64 = 0
    /// Values without a subscriber that were dropped to make room for later ones (pain 12).
    public var earlyNotificationsDropped: UInt64 = 0
    /// Indications that arrived while the one before had to wait for its confirmation.
    public var unconfirmedIndications: UInt64 = 0
    /// Values that arrived after the last client had unsubscribed.
    public var unclaimedNotifications: UInt64 = 0

    /// Adds what another bearer counted.
    mutating func add(_ other: ATTCounters) {
        unexpectedResponses &+= other.unexpectedResponses
        malformedPDUs &+= other.malformedPDUs
        oversizedPDUs &+= other.oversizedPDUs
        ignoredCommands &+= other.ignoredCommands
        earlyNotificationsDropped &+= other.earlyNotificationsDropped
        unconfirmedIndications &+= other.unconfirmedIndications
        unclaimedNotifications &+= other.unclaimedNotifications
    }

    /// All zero.
    public init() {}
}
