import BLEPackets

/// What is kept of a device that we paired with: enough to encrypt the next link and to know the device again
/// (Core 5.4, Vol 3, Part H, 2.4 and 3.6).
///
/// Its description shows no key, so that a bond can be logged.
public struct Bond: Equatable, Sendable {
    /// Who the peer is: the identity that it told, else the address under which it was paired. Public or random, never
    /// marked as an identity.
    public var identity: DeviceAddress
    /// By which its resolvable private addresses are known; `nil` where it told none, or one of zeros.
    public var identityResolvingKey: Key128?
    /// Whether the keys come of LE Secure Connections.
    public var isSecureConnections: Bool
    /// Whether the pairing was protected against a man in the middle.
    public var isAuthenticated: Bool
    /// Octets of the long term keys, 7 to 16.
    public var keySize: UInt8
    /// The key that we gave out: it encrypts links on which we are the peripheral. With LE Secure Connections both keys
    /// are the same.
    public var localKey: LongTermKey?
    /// The key that the peer gave out: it encrypts links on which we are the central.
    public var peerKey: LongTermKey?
    /// What we sign with.
    public var localSigningKey: SigningKey?
    /// What the peer signs with.
    public var peerSigningKey: SigningKey?
    /// What the peer, as a client of our attribute server, finds again.
    public var clientRecord: GATTClientRecord?
    /// Whether the peer began the pairing and nobody was authenticated: anybody near can have such a bond, so that it may
    /// make room for others (`HostLimits.unaskedBonds`).
    public var isUnasked = false
    /// What its user calls the device: the name under which it was found and paired. Whoever else uses that name is not
    /// the device.
    public var name: String?
    /// When the bond's key encrypted a link last, among the bonds of a device: the greater, the later; 0: not since the
    /// pairing. What was used longest ago makes room first.
    public var lastUse: UInt64 = 0

    public init(
        identity: DeviceAddress, identityResolvingKey: Key128? = nil, isSecureConnections: Bool = false,
        isAuthenticated: Bool = false, keySize: UInt8 = 16, localKey: LongTermKey? = nil, peerKey: LongTermKey? = nil,
        localSigningKey: SigningKey? = nil, peerSigningKey: SigningKey? = nil, clientRecord: GATTClientRecord? = nil
    ) {
        self.identity = identity.withoutIdentityMark
        self.identityResolvingKey = identityResolvingKey
        self.isSecureConnections = isSecureConnections
        self.isAuthenticated = isAuthenticated
        self.keySize = keySize
        self.localKey = localKey
        self.peerKey = peerKey
        self.localSigningKey = localSigningKey
        self.peerSigningKey = peerSigningKey
        self.clientRecord = clientRecord
    }
}

/// A long term key with the numbers by which its owner finds it: both zero with LE Secure Connections
/// (Core 5.4, Vol 3, Part H, 2.4.4).
public struct LongTermKey: Equatable, Sendable {
    /// Secret.
    public var key: Key128
    /// EDIV.
    public var encryptedDiversifier: UInt16
    /// Rand.
    public var randomNumber: UInt64

    public init(key: Key128, encryptedDiversifier: UInt16 = 0, randomNumber: UInt64 = 0) {
        self.key = key
        self.encryptedDiversifier = encryptedDiversifier
        self.randomNumber = randomNumber
    }
}

/// A connection signature resolving key with the counter that its next signature carries at least
/// (Core 5.4, Vol 3, Part H, 2.4.5).
public struct SigningKey: Equatable, Sendable {
    /// Secret.
    public var key: Key128
    /// Of the peer's key: the lowest that has not been used. Of ours: none from this one on was used; those below it may
    /// have been.
    public var counter: UInt32

    public init(key: Key128, counter: UInt32 = 0) {
        self.key = key
        self.counter = counter
    }
}

extension Bond: CustomStringConvertible {
    public var description: String {
        let kind = isSecureConnections ? "Secure Connections" : "legacy"
        let authentication = isAuthenticated ? "authenticated" : "unauthenticated"
        return "bond with \(identity), \(kind), \(authentication), \(keySize) octets"
    }
}

extension LongTermKey: CustomStringConvertible {
    public var description: String { "(long term key)" }
}

extension SigningKey: CustomStringConvertible {
    public var description: String { "(signing key)" }
}

#if !hasFeature(Embedded)
extension Bond: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    /// Empty, so that nothing that prints the parts of a value prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LongTermKey: CustomReflectable {
    /// Empty, so that nothing that prints the parts of a value prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SigningKey: CustomReflectable {
    /// Empty, so that nothing that prints the parts of a value prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Bond: Codable {
    private enum CodingKeys: String, CodingKey {
        case identity, identityResolvingKey, isSecureConnections, isAuthenticated, keySize, localKey, peerKey
        case localSigningKey, peerSigningKey, clientRecord, isUnasked, name, lastUse
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            identity: try container.decode(DeviceAddress.self, forKey: .identity),
            identityResolvingKey: try container.decodeIfPresent(Key128.self, forKey: .identityResolvingKey),
            isSecureConnections: try container.decode(Bool.self, forKey: .isSecureConnections),
            isAuthenticated: try container.decode(Bool.self, forKey: .isAuthenticated),
            keySize: try container.decode(UInt8.self, forKey: .keySize),
            localKey: try container.decodeIfPresent(LongTermKey.self, forKey: .localKey),
            peerKey: try container.decodeIfPresent(LongTermKey.self, forKey: .peerKey),
            localSigningKey: try container.decodeIfPresent(SigningKey.self, forKey: .localSigningKey),
            peerSigningKey: try container.decodeIfPresent(SigningKey.self, forKey: .peerSigningKey),
            clientRecord: try container.decodeIfPresent(GATTClientRecord.self, forKey: .clientRecord))
        try container.update(&isUnasked, .isUnasked)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        try container.update(&lastUse, .lastUse)
    }
}
extension LongTermKey: Codable {}
extension SigningKey: Codable {}

/// In 32 hexadecimal digits, most significant first. A file that holds one must be kept secret.
extension Key128: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard text.utf8.count == 32, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let value = UInt128(text, radix: 16)
        else {
            // The text is not repeated: it may be a key with a slip in it.
            throw Swift.DecodingError.dataCorruptedError(in: container, debugDescription: "no key of 128 bits")
        }
        self.init(rawValue: value)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let digits = String(rawValue, radix: 16)
        try container.encode(String(repeating: "0", count: 32 - digits.utf8.count) + digits)
    }
}
#endif
