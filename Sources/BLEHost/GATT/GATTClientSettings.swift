import BLEPackets

/// The limits of a link's GATT client.
public struct GATTClientSettings: Equatable, Sendable {
    /// The largest PDU that we receive, in octets, at least 23; also the response to a peer that asks before we do.
    public var receiveMTU: UInt16 = 517
    /// How long the response to a request may take (Core 5.4, Vol 3, Part F, 3.3.3).
    public var transactionTimeout = Microseconds.seconds(30)
    /// How long clients that confirm indications themselves may take: less than any peer waits, so that one that hangs
    /// costs no link.
    public var confirmationLimit = Microseconds.seconds(5)
    /// How many operations may wait, in addition to the running one. A client that has none waiting always may start
    /// one, and so may one whose user's clients have less than a sixteenth of them.
    public var operationLimit = 1024
    /// How many requests one discovery may take; real databases need a few hundred.
    public var discoveryRequestLimit = 4096
    /// How long one discovery may take: after that it sends no further request. A discovery of a few hundred requests
    /// on the slowest usual link (an interval of 2 s) takes less.
    public var discoveryTimeout = Microseconds.seconds(1200)
    /// How many attributes one discovery may find.
    public var discoveredAttributeLimit = 8192
    /// How many write commands may wait for the controller. A client that has none waiting always may send one.
    public var writeCommandLimit = 20
    /// How many values without a subscriber are stored, for all handles together.
    public var earlyNotificationLimit = 32
    /// Whether an operation that the peer refuses for insufficient security secures the link and is then repeated once
    /// (SPEC 2.3 automatic pairing).
    public var asksForSecurity = false

    /// Creates the settings for an app that does not share the link.
    public init() {}
}
