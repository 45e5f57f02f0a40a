/// The first octet of a Security Manager PDU (Core 5.4, Vol 3, Part H, 3.3).
public struct SMPOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// From the central: begins pairing with its features (Core 5.4, Vol 3, Part H, 3.5.1).
    public static let pairingRequest = SMPOpcode(rawValue: 0x01)
    /// From the peripheral: its features (Part H, 3.5.2).
    public static let pairingResponse = SMPOpcode(rawValue: 0x02)
    /// A commitment to a random value that follows (Part H, 3.5.3).
    public static let pairingConfirm = SMPOpcode(rawValue: 0x03)
    /// The random value (Part H, 3.5.4).
    public static let pairingRandom = SMPOpcode(rawValue: 0x04)
    /// From both sides: pairing is over, and why (Part H, 3.5.5).
    public static let pairingFailed = SMPOpcode(rawValue: 0x05)
    /// Legacy pairing: the long term key of the sender (Part H, 3.6.2).
    public static let encryptionInformation = SMPOpcode(rawValue: 0x06)
    /// Legacy pairing: EDIV and Rand, by which the sender finds that key again (Part H, 3.6.3).
    public static let centralIdentification = SMPOpcode(rawValue: 0x07)
    /// The identity resolving key of the sender (Part H, 3.6.4).
    public static let identityInformation = SMPOpcode(rawValue: 0x08)
    /// The identity address of the sender (Part H, 3.6.5).
    public static let identityAddressInformation = SMPOpcode(rawValue: 0x09)
    /// The connection signature resolving key of the sender (Part H, 3.6.6).
    public static let signingInformation = SMPOpcode(rawValue: 0x0A)
    /// From the peripheral: asks the central to encrypt the link, or to pair (Part H, 3.6.7).
    public static let securityRequest = SMPOpcode(rawValue: 0x0B)
    /// LE Secure Connections: the public key of the sender (Part H, 3.5.6).
    public static let pairingPublicKey = SMPOpcode(rawValue: 0x0C)
    /// LE Secure Connections: a proof that the sender has the shared secret (Part H, 3.5.7).
    public static let pairingDHKeyCheck = SMPOpcode(rawValue: 0x0D)
    /// Progress at the sender while a passkey is typed (Part H, 3.5.8).
    public static let pairingKeypressNotification = SMPOpcode(rawValue: 0x0E)

    /// Whether the code is defined; other PDUs are ignored.
    @inlinable public var isKnown: Bool { rawValue >= 0x01 && rawValue <= 0x0E }
}
