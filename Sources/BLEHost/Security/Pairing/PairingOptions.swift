import BLEPackets

/// What this device can do in pairing and what it demands.
public struct PairingOptions: Hashable, Sendable {
    /// What the device can show and its user can type; it decides which way of pairing is possible.
    public var ioCapability = IOCapability.noInputNoOutput
    /// Whether keys are kept for later links.
    public var isBonding = true
    /// Whether protection against a man in the middle is demanded: a pairing that cannot give it fails.
    public var requiresAuthentication = false
    /// Whether protection against a man in the middle is asked for where it is not demanded: pairing goes on without it
    /// where what both devices can do does not give it.
    public var prefersAuthentication = false
    /// Whether LE Secure Connections is offered.
    public var allowsSecureConnections = true
    /// Whether a peer that knows legacy pairing alone is refused (Core 5.4, Vol 3, Part C, 10.2.4). The key has 16
    /// octets then.
    public var requiresSecureConnections = false
    /// Octets, 7 to 16: a shorter key is refused, and a bond whose key is shorter does not serve. Less than 16 is for
    /// old devices alone, and knowingly: a key of seven octets can be tried out.
    public var minimumKeySize: UInt8 = 16
    /// Octets, 7 to 16.
    public var maximumKeySize: UInt8 = 16
    /// Keys that the initiator shall give, where both sides want that. The identity is given only where this device has
    /// a resolving key. `link` is ignored: no key for BR/EDR is derived here.
    public var initiatorKeys: KeyDistribution = [.encryption, .identity, .signing]
    /// Keys that the responder shall give.
    public var responderKeys: KeyDistribution = [.encryption, .identity, .signing]
    /// The passkey that is displayed instead of a random one, and typed without asking the user: 0 to 999999.
    ///
    /// A passkey that stays the same gives away about two bits at each try, and all of it to who overhears one pairing.
    /// So a few failures lock it (`PairingEvent.passkeyLocked`), and a pairing that a peer begins uses it only where
    /// `requiresAuthentication` is set; else a random one is displayed, or the user is asked.
    public var passkey: UInt32?
    /// Whether to accept the debug public key, whose private key is public; only for tests with a sniffer (Core 5.4,
    /// Vol 3, Part H, 2.3.5.6.1).
    public var acceptsDebugKeys = false
    /// Whether the app is asked before a pairing that it did not begin (`PairingQuestion.Kind.consent`).
    public var asksConsent = false
    /// The operator's word that a bond with the device may be replaced though its key has not encrypted the link, by a
    /// weaker one as well: for a device that has lost its half. Without it such a pairing is refused, unless the app
    /// says yes to `PairingQuestion.Kind.replaceBond`.
    public var replacesBond = false

    public init(
        ioCapability: IOCapability = .noInputNoOutput, isBonding: Bool = true, requiresAuthentication: Bool = false,
        allowsSecureConnections: Bool = true, requiresSecureConnections: Bool = false, minimumKeySize: UInt8 = 16,
        maximumKeySize: UInt8 = 16, passkey: UInt32? = nil, asksConsent: Bool = false,
        prefersAuthentication: Bool = false, replacesBond: Bool = false
    ) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.requiresAuthentication = requiresAuthentication
        self.allowsSecureConnections = allowsSecureConnections
        self.requiresSecureConnections = requiresSecureConnections
        self.minimumKeySize = minimumKeySize
        self.maximumKeySize = maximumKeySize
        self.passkey = passkey
        self.asksConsent = asksConsent
        self.prefersAuthentication = prefersAuthentication
        self.replacesBond = replacesBond
    }

    /// Demands LE security mode 1 level 4 and nothing less: authenticated LE Secure Connections and keys of 16 octets
    /// (Secure Connections Only mode; Core 5.4, Vol 3, Part C, 10.2.1 and 10.2.4).
    public mutating func requireSecureConnectionsOnly() {
        allowsSecureConnections = true
        requiresSecureConnections = true
        requiresAuthentication = true
        minimumKeySize = 16
    }

    /// The shortest key that is taken.
    var leastKeySize: UInt8 { requiresSecureConnections ? 16 : min(16, max(7, minimumKeySize)) }

    var authentication: AuthenticationRequirements {
        var requirements: AuthenticationRequirements = isBonding ? .bonding : []
        if requiresAuthentication || prefersAuthentication { requirements.insert(.mitm) }
        if allowsSecureConnections || requiresSecureConnections { requirements.insert(.secureConnections) }
        return requirements
    }
}

/// What was told to or heard from a peer by another way than Bluetooth (Core 5.4, Vol 3, Part H, 2.3.5.4 and
/// 2.3.5.6.4).
public struct OutOfBandData: Equatable, Sendable {
    /// The temporary key of legacy pairing, the same on both sides.
    public var temporaryKey: Key128?
    /// What the peer told: its random value and its confirm value.
    public var peer: SecureConnectionsData?
    /// What this device told, made by `SecurityCommand.createOutOfBandData`.
    public var local: LocalOutOfBandData?

    /// What LE Secure Connections tells out of band.
    public struct SecureConnectionsData: Equatable, Sendable {
        /// The random value `r`.
        public var random: Key128
        /// The confirm value, made of the public key and `r` with the function `f4`.
        public var confirm: Key128

        public init(random: Key128, confirm: Key128) {
            self.random = random
            self.confirm = confirm
        }
    }

    public init(temporaryKey: Key128? = nil, peer: SecureConnectionsData? = nil, local: LocalOutOfBandData? = nil) {
        self.temporaryKey = temporaryKey
        self.peer = peer
        self.local = local
    }
}

/// What this device tells a peer out of band, with the key pair that belongs to it.
public struct LocalOutOfBandData: Equatable, Sendable {
    /// To be told to the peer.
    public var random: Key128
    /// To be told to the peer.
    public var confirm: Key128
    /// 32 octets, most significant first; secret.
    public var privateKey: [UInt8]
    /// The half of the key pair that peers get to see.
    public var publicKey: P256PublicKey

    public init(random: Key128, confirm: Key128, privateKey: [UInt8], publicKey: P256PublicKey) {
        self.random = random
        self.confirm = confirm
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}

extension OutOfBandData: CustomStringConvertible {
    public var description: String { "(out-of-band data)" }
}

extension LocalOutOfBandData: CustomStringConvertible {
    public var description: String { "(local out-of-band data)" }
}

#if !hasFeature(Embedded)
extension IOCapability: Codable {}
extension KeyDistribution: Codable {}
extension OutOfBandData: Codable {}
extension OutOfBandData.SecureConnectionsData: Codable {}
extension LocalOutOfBandData: Codable {}

extension PairingOptions: Codable {
    private enum CodingKeys: String, CodingKey {
        case ioCapability, isBonding, requiresAuthentication, allowsSecureConnections, requiresSecureConnections
        case minimumKeySize, maximumKeySize, initiatorKeys, responderKeys, passkey, acceptsDebugKeys, asksConsent
        case prefersAuthentication, replacesBond
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try container.update(&ioCapability, .ioCapability)
        try container.update(&isBonding, .isBonding)
        try container.update(&requiresAuthentication, .requiresAuthentication)
        try container.update(&allowsSecureConnections, .allowsSecureConnections)
        try container.update(&requiresSecureConnections, .requiresSecureConnections)
        try container.update(&minimumKeySize, .minimumKeySize)
        try container.update(&maximumKeySize, .maximumKeySize)
        try container.update(&initiatorKeys, .initiatorKeys)
        try container.update(&responderKeys, .responderKeys)
        passkey = try container.decodeIfPresent(UInt32.self, forKey: .passkey)
        try container.update(&acceptsDebugKeys, .acceptsDebugKeys)
        try container.update(&asksConsent, .asksConsent)
        try container.update(&prefersAuthentication, .prefersAuthentication)
        try container.update(&replacesBond, .replacesBond)
    }
}
#endif
