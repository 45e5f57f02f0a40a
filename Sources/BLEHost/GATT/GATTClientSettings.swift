import BLEPackets

/// The bounds of a link's GATT client.
public struct GATTClientSettings: Equatable, Sendable {
    /// The largest PDU that we receive, in octets, told to a peer that asks before we do; at least 23.
    public var receiveMTU: UInt16 = 517
    /// How long a request may go unanswered (Core 5.4, Vol 3, Part F, 3.3.3).
    public var transactionTimeout = Microseconds.seconds(30)
    /// Operations that may wait, the running one left out.
    public var operationLimit = 1024
    /// Requests that one discovery may take: real databases need some hundred.
    public var discoveryRequestLimit = 4096
    /// Attributes that one discovery may find.
    public var discoveredAttributeLimit = 8192
    /// Write commands that may wait for the controller.
    public var writeCommandLimit = 20
    /// Values without a subscriber that are kept, in all.
    public var earlyNotificationLimit = 32
    /// Whether an operation that the peer refuses because the link is not secure makes it secure and is repeated once
    /// (SPEC 2.3 automatic pairing).
    public var asksForSecurity = false

    /// What an app needs that has the link for itself.
    public init() {}
}
