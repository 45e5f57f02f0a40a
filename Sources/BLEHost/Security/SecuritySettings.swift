import BLEPackets

/// How this device makes its links secure.
public struct SecuritySettings: Hashable, Sendable {
    /// What it can do and demands in pairing, unless a command says otherwise.
    public var pairing = PairingOptions()
    /// Whether an operation that a peer refuses with 0x05, 0x0C or 0x0F encrypts the link, or pairs, and is then
    /// carried out once more (SPEC 2.3 automatic pairing, SEC-2).
    public var pairsOnDemand = true
    /// Whether a link that we made to a bonded peer is encrypted at once.
    public var encryptsAtConnection = true
    /// Whether a central that connects is asked for security at once.
    public var requestsSecurity = false
    /// Whether a central may pair with us.
    public var acceptsPairing = true
    /// Whether a Security Request of a peripheral starts encryption or pairing.
    public var followsSecurityRequests = true
    /// By which bonded peers know our resolvable private addresses; without it they are not told our identity.
    public var identityResolvingKey: Key128?

    /// The default: pairing on demand, without user interaction.
    public init() {}
}

/// What protects a link.
public struct LinkSecurity: Hashable, Sendable {
    /// Whether the link is encrypted now.
    public var isEncrypted: Bool
    /// Whether the key in use is protected against a man in the middle.
    public var isAuthenticated: Bool
    /// Whether the key in use comes of LE Secure Connections.
    public var isSecureConnections: Bool
    /// Octets of the key in use.
    public var keySize: UInt8
    /// Whether the peer is bonded.
    public var isBonded: Bool
    /// Who the peer is: its identity where it is bonded, else the address of the link.
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

#if !hasFeature(Embedded)
extension SecuritySettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case pairing, pairsOnDemand, encryptsAtConnection, requestsSecurity, acceptsPairing, followsSecurityRequests
        case identityResolvingKey
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try container.update(&pairing, .pairing)
        try container.update(&pairsOnDemand, .pairsOnDemand)
        try container.update(&encryptsAtConnection, .encryptsAtConnection)
        try container.update(&requestsSecurity, .requestsSecurity)
        try container.update(&acceptsPairing, .acceptsPairing)
        try container.update(&followsSecurityRequests, .followsSecurityRequests)
        identityResolvingKey = try container.decodeIfPresent(Key128.self, forKey: .identityResolvingKey)
    }
}
#endif
