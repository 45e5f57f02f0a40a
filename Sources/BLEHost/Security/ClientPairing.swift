import BLEPackets

/// How one of the clients that share an engine pairs (`SecuritySettings.clients`).
///
/// A pairing has an owner: the client whose operation needs it, or whose value a central may only have with it. The
/// owner's person is asked, or that of another client of the same user, or an operator, but never another user. What
/// other clients require still applies.
public struct ClientPairing: Hashable, Sendable {
    /// The client.
    public var client: ClientID
    /// The number of the client's user: clients of one user answer for each other.
    public var user: UInt32
    /// Whether the client's user also answers for clients of other users that ask no user, and decides about consent
    /// where its own servers and links are.
    public var isOperator: Bool
    /// Whether the client offers values or channels to centrals.
    public var isServing: Bool
    /// Whether a person answers the questions of its pairings.
    public var asks: Bool
    /// Whether what it requires applies to the pairings of all clients.
    public var requiresOfAll: Bool
    /// The capability of its user, and what it requires of the pairings that it causes.
    public var options: PairingOptions

    public init(
        client: ClientID, user: UInt32, isOperator: Bool = false, isServing: Bool = false, asks: Bool = true,
        requiresOfAll: Bool = false, options: PairingOptions = PairingOptions()
    ) {
        self.client = client
        self.user = user
        self.isOperator = isOperator
        self.isServing = isServing
        self.asks = asks
        self.requiresOfAll = requiresOfAll
        self.options = options
    }

    /// Whether its person can do more than agree to everything.
    var isDiscerning: Bool { options.ioCapability != .noInputNoOutput || options.asksConsent }
}

extension PairingOptions {
    /// Whether the options state what a person can do and nothing else.
    public var isPlain: Bool { self == PairingOptions(ioCapability: ioCapability, asksConsent: asksConsent) }

    /// Requires what the other options require, too. The keys that it offers become as long as that.
    public mutating func require(_ other: PairingOptions) {
        requiresAuthentication = requiresAuthentication || other.requiresAuthentication
        requiresSecureConnections = requiresSecureConnections || other.requiresSecureConnections
        minimumKeySize = max(minimumKeySize, other.minimumKeySize)
        maximumKeySize = max(maximumKeySize, minimumKeySize)
    }
}
