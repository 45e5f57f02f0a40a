/// Traffic of a bearer that belongs to no operation.
public struct ATTCounters: Equatable, Sendable {
    /// Responses to no request.
    public var unexpectedResponses: UInt64 = 0
    /// PDUs that are not of the form that their opcode demands, responses left out: those end their operation.
    public var malformedPDUs: UInt64 = 0
    /// PDUs longer than the MTU that was agreed on.
    public var oversizedPDUs: UInt64 = 0
    /// Commands of the peer that the specification does not know.
    public var ignoredCommands: UInt64 = 0
    /// Values without a subscriber that had to make room for later ones (pain 12).
    public var earlyNotificationsDropped: UInt64 = 0
    /// Indications that came before the one before them was confirmed, while that had to wait.
    public var unconfirmedIndications: UInt64 = 0
    /// Values that arrived after the last subscriber had left.
    public var unclaimedNotifications: UInt64 = 0

    /// All zero.
    public init() {}
}
