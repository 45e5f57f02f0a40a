import BLEPackets

/// How this device secures its links.
public struct SecuritySettings: Hashable, Sendable {
    /// Capabilities and requirements for pairing, unless a command specifies others.
    public var pairing = PairingOptions()
    /// Whether an operation that a peer refuses with error 0x05, 0x0C or 0x0F first encrypts the link, or pairs, and is
    /// then repeated once (SPEC 2.3 automatic pairing, SEC-2).
    public var pairsOnDemand = true
    /// Clients whose refused operations never begin a pairing; if there is a bond, they are repeated with its key.
    public var clientsWithoutPairing: [ClientID] = []
    /// How the clients pair that share this engine, in the order in which they came; `pairing` applies to others.
    /// `nil`: one owner decides about all pairings. If a client that is being asked is missing in later settings, its
    /// pairings end; so do those that are weaker than what is required then.
    public var clients: [ClientPairing]?
    /// Whether a link that this side made to a bonded peer is encrypted at once.
    public var encryptsAtConnection = true
    /// Whether this side, as the peripheral, requests security from each central that connects.
    public var requestsSecurity = false
    /// Whether a central may pair with this device.
    public var acceptsPairing = true
    /// Whether a Security Request of a peripheral starts encryption or pairing.
    public var followsSecurityRequests = true
    /// The key with which bonded peers resolve our resolvable private addresses; without it our identity is not
    /// distributed.
    public var identityResolvingKey: Key128?

    /// Creates the default settings: pairing on demand, without user interaction.
    public init() {}
}

/// The security of a link.
public struct LinkSecurity: Hashable, Sendable {
    /// Whether the link is encrypted now.
    public var isEncrypted: Bool
    /// Whether the key in use is protected against a man in the middle.
    public var isAuthenticated: Bool
    /// Whether LE Secure Connections generated the key in use.
    public var isSecureConnections: Bool
    /// Size of the key in use in octets, 7 to 16; 0 on a link that is not encrypted.
    public var keySize: UInt8
    /// Whether the peer is bonded; on an encrypted link, whether the key in use belongs to the bond.
    public var isBonded: Bool
    /// The peer's identity address if it is bonded, otherwise the address of the link.
    public var identity: DeviceAddress

    public init(
        isEncrypted: Bool, isAuthenticated: Bool, isSecureConnections: Bool, keySize: UInt8, isBonded: Bool,
        identity: DeviceAddress
    ) {
        self.isEncrypted = isEncrypted
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.keySize = keySize
        self.isBonded = isBonded
        self.identity = identity
    }
}
