/// A Security Manager PDU (Core 5.4, Vol 3, Part H, 3.5 and 3.6).
///
/// Its description names the PDU and shows no key, so that it can be logged.
public enum SMPPacket: Hashable, Sendable {
    /// From the central: what it can do and demands.
    case pairingRequest(PairingFeatures)
    /// From the peripheral: what it can do and demands.
    case pairingResponse(PairingFeatures)
    /// A confirm value.
    case pairingConfirm(Key128)
    /// A random value.
    case pairingRandom(Key128)
    /// Ends pairing, with the reason.
    case pairingFailed(PairingFailedReason)
    /// A long term key.
    case encryptionInformation(Key128)
    /// EDIV and Rand of the long term key that went before.
    case centralIdentification(encryptedDiversifier: UInt16, randomNumber: UInt64)
    /// An identity resolving key.
    case identityInformation(Key128)
    /// The sender's identity address: public or static random.
    case identityAddressInformation(DeviceAddress)
    /// A connection signature resolving key.
    case signingInformation(Key128)
    /// From the peripheral: what it demands of the link. The central encrypts with a key that suffices, or pairs.
    case securityRequest(AuthenticationRequirements)
    /// May be no point of the curve.
    case pairingPublicKey(P256PublicKey)
    /// A proof that the sender has the shared secret.
    case pairingDHKeyCheck(Key128)
    /// Progress at the sender while a passkey is typed.
    case keypressNotification(KeypressNotification)

    /// Octets of the longest PDU, its opcode included.
    public static let maximumByteCount = 65

    /// - Throws: `DecodingError.invalidValue` with the field `opcode` for a reserved code; other errors mean that a
    ///   known PDU has a wrong length or content.
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = PacketReader(pdu)
        let opcode = SMPOpcode(rawValue: try reader.read())
        switch opcode {
        case .pairingRequest: self = .pairingRequest(try PairingFeatures(decoding: &reader))
        case .pairingResponse: self = .pairingResponse(try PairingFeatures(decoding: &reader))
        case .pairingConfirm: self = .pairingConfirm(try Self.key(&reader))
        case .pairingRandom: self = .pairingRandom(try Self.key(&reader))
        case .pairingFailed: self = .pairingFailed(PairingFailedReason(rawValue: try reader.read()))
        case .encryptionInformation: self = .encryptionInformation(try Self.key(&reader))
        case .centralIdentification:
            let diversifier: UInt16 = try reader.read()
            self = .centralIdentification(encryptedDiversifier: diversifier, randomNumber: try reader.read())
        case .identityInformation: self = .identityInformation(try Self.key(&reader))
        case .identityAddressInformation:
            let type: UInt8 = try reader.read()
            guard type <= 1, let kind = DeviceAddress.Kind(rawValue: type) else {
                throw .invalidValue(UInt64(type), field: .addressType)
            }
            self = .identityAddressInformation(try DeviceAddress(decoding: &reader, kind: kind))
        case .signingInformation: self = .signingInformation(try Self.key(&reader))
        case .securityRequest: self = .securityRequest(AuthenticationRequirements(rawValue: try reader.read()))
        case .pairingPublicKey: self = .pairingPublicKey(try P256PublicKey(decoding: &reader))
        case .pairingDHKeyCheck: self = .pairingDHKeyCheck(try Self.key(&reader))
        case .pairingKeypressNotification:
            let value: UInt8 = try reader.read()
            guard let notification = KeypressNotification(rawValue: value) else {
                throw .invalidValue(UInt64(value), field: .keypress)
            }
            self = .keypressNotification(notification)
        default: throw .invalidValue(UInt64(opcode.rawValue), field: .opcode)
        }
        try reader.expectEnd()
    }

    private static func key(_ reader: inout PacketReader) throws(DecodingError) -> Key128 {
        guard reader.remainingCount >= 16 else { throw .truncated(needed: 16, remaining: reader.remainingCount) }
        return Key128(rawValue: try reader.read())
    }

    /// The first octet of the PDU.
    public var opcode: SMPOpcode {
        switch self {
        case .pairingRequest: .pairingRequest
        case .pairingResponse: .pairingResponse
        case .pairingConfirm: .pairingConfirm
        case .pairingRandom: .pairingRandom
        case .pairingFailed: .pairingFailed
        case .encryptionInformation: .encryptionInformation
        case .centralIdentification: .centralIdentification
        case .identityInformation: .identityInformation
        case .identityAddressInformation: .identityAddressInformation
        case .signingInformation: .signingInformation
        case .securityRequest: .securityRequest
        case .pairingPublicKey: .pairingPublicKey
        case .pairingDHKeyCheck: .pairingDHKeyCheck
        case .keypressNotification: .pairingKeypressNotification
        }
    }

    /// Writes the whole PDU, opcode first.
    public func encode(into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        switch self {
        case .pairingRequest(let features), .pairingResponse(let features): features.encode(into: &packet)
        case .pairingConfirm(let value), .pairingRandom(let value), .pairingDHKeyCheck(let value),
            .encryptionInformation(let value), .identityInformation(let value), .signingInformation(let value):
            packet.write(value.rawValue)
        case .pairingFailed(let reason): packet.write(reason.rawValue)
        case .centralIdentification(let diversifier, let number):
            packet.write(diversifier)
            packet.write(number)
        case .identityAddressInformation(let address):
            packet.write(UInt8(address.isRandom ? 1 : 0))
            address.encodeOctets(into: &packet)
        case .securityRequest(let requirements): packet.write(requirements.rawValue)
        case .pairingPublicKey(let key): key.encode(into: &packet)
        case .keypressNotification(let notification): packet.write(notification.rawValue)
        }
    }

    /// The whole PDU.
    public func encoded() -> [UInt8] {
        var packet = PacketWriter(reservingCapacity: 17)
        encode(into: &packet)
        return packet.bytes
    }
}

extension SMPPacket: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pairingRequest: "Pairing Request"
        case .pairingResponse: "Pairing Response"
        case .pairingConfirm: "Pairing Confirm"
        case .pairingRandom: "Pairing Random"
        case .pairingFailed(let reason): "Pairing Failed: \(reason.description)"
        case .encryptionInformation: "Encryption Information"
        case .centralIdentification: "Central Identification"
        case .identityInformation: "Identity Information"
        case .identityAddressInformation(let address): "Identity Address Information: \(address.description)"
        case .signingInformation: "Signing Information"
        case .securityRequest: "Security Request"
        case .pairingPublicKey: "Pairing Public Key"
        case .pairingDHKeyCheck: "Pairing DHKey Check"
        case .keypressNotification: "Keypress Notification"
        }
    }
}

#if !hasFeature(Embedded)
extension SMPPacket: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
