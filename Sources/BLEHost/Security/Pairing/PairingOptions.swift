import BLEPackets

/// The capabilities and requirements of this device in pairing.
public struct PairingOptions: Hashable, Sendable {
    /// What the device can display and its user can enter; it determines the possible association models.
    public var ioCapability = IOCapability.noInputNoOutput
    /// Whether keys are stored for later links.
    public var isBonding = true
    /// Whether protection against a man in the middle is required: a pairing that cannot provide it fails.
    public var requiresAuthentication = false
    /// Whether protection against a man in the middle is requested without being required: pairing continues without it
    /// if the capabilities of both devices do not provide it.
    public var prefersAuthentication = false
    /// Whether LE Secure Connections is offered.
    public var allowsSecureConnections = true
    /// Whether a peer that only supports legacy pairing is refused (Core 5.4, Vol 3, Part C, 10.2.4). The key must then
    /// have 16 octets.
    public var requiresSecureConnections = false
    /// The smallest key size in octets, 7 to 16: a shorter key is refused, and a bond with a shorter key is not used.
    /// Set it below 16 only for old devices, and deliberately: a key of seven octets can be found by trying all keys.
    public var minimumKeySize: UInt8 = 16
    /// The largest key size in octets, 7 to 16.
    public var maximumKeySize: UInt8 = 16
    /// Keys that the initiator distributes if both sides want them. The identity is only distributed if this device has
    /// a resolving key. `link` is ignored: no key for BR/EDR is derived here.
    public var initiatorKeys: KeyDistribution = [.encryption, .identity, .signing]
    /// Keys that the responder distributes if both sides want them.
    public var responderKeys: KeyDistribution = [.encryption, .identity, .signing]
    /// A fixed passkey that is displayed instead of a random one, and entered without asking the user: 0 to 999999.
    ///
    /// A fixed passkey reveals about two bits with each attempt, and everything to a device that overhears one pairing.
    /// Therefore a few failures lock it (`PairingEvent.passkeyLocked`), and a pairing that a peer begins uses it only
    /// if `requiresAuthentication` is set, or, as the initiator, if `prefersAuthentication` is; otherwise a random
    /// passkey is displayed, or the user is asked.
    public var passkey: UInt32?
    /// Whether to accept the debug public key, whose private key is public; only for tests with a sniffer (Core 5.4,
    /// Vol 3, Part H, 2.3.5.6.1).
    public var acceptsDebugKeys = false
    /// Whether the app is asked before a pairing that it did not begin (`PairingQuestion.Kind.consent`).
    public var asksConsent = false
    /// The operator's permission to replace a bond with the device although its key has not encrypted the link, even by
    /// a weaker one: for a device that has lost its keys. Without this, such a pairing is refused unless the app
    /// confirms `PairingQuestion.Kind.replaceBond`.
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

    /// Requires LE security mode 1 level 4 and nothing less: authenticated LE Secure Connections and keys of 16 octets
    /// (Secure Connections Only mode; Core 5.4, Vol 3, Part C, 10.2.1 and 10.2.4).
    public mutating func requireSecureConnectionsOnly() {
        allowsSecureConnections = true
        requiresSecureConnections = true
        requiresAuthentication = true
        minimumKeySize = 16
    }

    /// The smallest key size in octets that is accepted.
    var leastKeySize: UInt8 { requiresSecureConnections ? 16 : min(16, max(7, minimumKeySize)) }

    var authentication: AuthenticationRequirements {
        var requirements: AuthenticationRequirements = isBonding ? .bonding : []
        if requiresAuthentication || prefersAuthentication { requirements.insert(.mitm) }
        if allowsSecureConnections || requiresSecureConnections { requirements.insert(.secureConnections) }
        return requirements
    }
}

/// Data exchanged with a peer by other means than Bluetooth (Core 5.4, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4).
public struct OutOfBandData: Equatable, Sendable {
    /// The temporary key of legacy pairing, the same on both sides.
    public var temporaryKey: Key128?
    /// What the peer sent: its random value and its confirm value.
    public var peer: SecureConnectionsData?
    /// What this device sends, created by `SecurityCommand.createOutOfBandData`.
    public var local: LocalOutOfBandData?

    /// The out-of-band values of LE Secure Connections.
    public struct SecureConnectionsData: Equatable, Sendable {
        /// The random value `r`.
        public var random: Key128
        /// The confirm value, computed from the public key and `r` with the function `f4`.
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

/// The out-of-band values that this device sends to a peer, with the key pair that belongs to them.
public struct LocalOutOfBandData: Equatable, Sendable {
    /// The random value; send it to the peer.
    public var random: Key128
    /// The confirm value; send it to the peer.
    public var confirm: Key128
    /// The private key: 32 octets, most significant first; secret. Empty if a daemon keeps it.
    public var privateKey: [UInt8]
    /// The public key, which peers receive in pairing.
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
