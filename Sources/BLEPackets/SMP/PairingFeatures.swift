/// The input and output capabilities of a device (Core 5.4, Vol 3, Part H, 2.3.2).
public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
    /// Shows six digits, without input.
    case displayOnly = 0x00
    /// Shows six digits and accepts yes or no.
    case displayYesNo = 0x01
    /// Accepts digits, without output.
    case keyboardOnly = 0x02
    /// No input and no output: the link is not protected against a man in the middle, except with out-of-band data.
    case noInputNoOutput = 0x03
    /// Shows six digits and accepts digits.
    case keyboardDisplay = 0x04
}

/// The pairing requirements of a device (Core 5.4, Vol 3, Part H, 3.5.1).
public struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Keys are stored for later links.
    public static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// Protection against a man in the middle.
    public static let mitm = AuthenticationRequirements(rawValue: 0x04)
    /// LE Secure Connections instead of legacy pairing; done only when both sides set it.
    public static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    /// Keypress notifications while a passkey is typed.
    public static let keypress = AuthenticationRequirements(rawValue: 0x10)
    /// The function h7 for keys of the other transport.
    public static let ct2 = AuthenticationRequirements(rawValue: 0x20)

    /// Whether bonding is requested: the field has two bits, with two reserved values.
    @inlinable public var isBonding: Bool { rawValue & 0x03 == 0x01 }
}

/// The keys that one side sends to the other (Core 5.4, Vol 3, Part H, 3.6.1).
public struct KeyDistribution: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A long term key with its numbers; without meaning in LE Secure Connections.
    public static let encryption = KeyDistribution(rawValue: 0x01)
    /// The identity resolving key and the identity address.
    public static let identity = KeyDistribution(rawValue: 0x02)
    /// The connection signature resolving key.
    public static let signing = KeyDistribution(rawValue: 0x04)
    /// A key for BR/EDR, derived from the long term key.
    public static let link = KeyDistribution(rawValue: 0x08)
}

/// Why a device gave pairing up (Core 5.4, Vol 3, Part H, 3.5.5).
public struct PairingFailedReason: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user did not enter the passkey, or gave up.
    public static let passkeyEntryFailed = PairingFailedReason(rawValue: 0x01)
    /// A device lacks the out-of-band data for this pairing.
    public static let outOfBandNotAvailable = PairingFailedReason(rawValue: 0x02)
    /// The capabilities of the devices do not meet the pairing requirements.
    public static let authenticationRequirements = PairingFailedReason(rawValue: 0x03)
    /// The confirm value does not match the random value: a wrong passkey, or a man in the middle.
    public static let confirmValueFailed = PairingFailedReason(rawValue: 0x04)
    /// The device does not pair, or not now.
    public static let pairingNotSupported = PairingFailedReason(rawValue: 0x05)
    /// The key that both sides can have is shorter than a device demands.
    public static let encryptionKeySize = PairingFailedReason(rawValue: 0x06)
    /// The device does not know the PDU that it got.
    public static let commandNotSupported = PairingFailedReason(rawValue: 0x07)
    /// An unspecified reason.
    public static let unspecifiedReason = PairingFailedReason(rawValue: 0x08)
    /// Too soon after the last attempt.
    public static let repeatedAttempts = PairingFailedReason(rawValue: 0x09)
    /// A PDU had a wrong length, or a value outside its range.
    public static let invalidParameters = PairingFailedReason(rawValue: 0x0A)
    /// LE Secure Connections: the check of the shared secret does not fit.
    public static let dhKeyCheckFailed = PairingFailedReason(rawValue: 0x0B)
    /// LE Secure Connections: the user has rejected the comparison of the two numbers.
    public static let numericComparisonFailed = PairingFailedReason(rawValue: 0x0C)
    /// The two devices are at pairing over BR/EDR.
    public static let brEdrPairingInProgress = PairingFailedReason(rawValue: 0x0D)
    /// No key of one transport may be made out of the key of the other one.
    public static let crossTransportKeyNotAllowed = PairingFailedReason(rawValue: 0x0E)
    /// A device rejected a key.
    public static let keyRejected = PairingFailedReason(rawValue: 0x0F)
    /// The device has no time for pairing at the moment.
    public static let busy = PairingFailedReason(rawValue: 0x10)
}

extension PairingFailedReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .passkeyEntryFailed: "passkey entry failed"
        case .outOfBandNotAvailable: "out-of-band data not available"
        case .authenticationRequirements: "authentication requirements cannot be met"
        case .confirmValueFailed: "confirm value failed"
        case .pairingNotSupported: "pairing not supported"
        case .encryptionKeySize: "encryption key too short"
        case .commandNotSupported: "command not supported"
        case .unspecifiedReason: "unspecified reason"
        case .repeatedAttempts: "repeated attempts"
        case .invalidParameters: "invalid parameters"
        case .dhKeyCheckFailed: "DHKey check failed"
        case .numericComparisonFailed: "numeric comparison failed"
        case .brEdrPairingInProgress: "BR/EDR pairing in progress"
        case .crossTransportKeyNotAllowed: "cross-transport key not allowed"
        case .keyRejected: "key rejected"
        case .busy: "busy"
        default: "reason \(rawValue)"
        }
    }
}

/// Progress while a passkey is typed (Core 5.4, Vol 3, Part H, 3.5.8).
public enum KeypressNotification: UInt8, Hashable, Sendable {
    /// The user is about to enter the passkey.
    case entryStarted = 0
    /// One digit more.
    case digitEntered = 1
    /// One digit less.
    case digitErased = 2
    /// All digits were deleted.
    case cleared = 3
    /// The passkey is entered.
    case entryCompleted = 4
}

/// The features of one side: the content of Pairing Request and Pairing Response
/// (Core 5.4, Vol 3, Part H, 3.5.1 and 3.5.2).
public struct PairingFeatures: Hashable, Sendable {
    /// The input and output capabilities; those of both sides determine the association model.
    public var ioCapability: IOCapability
    /// Whether out-of-band data of the other side is present.
    public var hasOutOfBandData: Bool
    /// The pairing requirements of the device.
    public var authentication: AuthenticationRequirements
    /// Octets, 7 to 16.
    public var maximumKeySize: UInt8
    /// The keys that the initiator, the central, sends. The response may only remove some.
    public var initiatorKeys: KeyDistribution
    /// The keys that the responder, the peripheral, sends. The response may only remove some.
    public var responderKeys: KeyDistribution

    /// - Parameter maximumKeySize: octets, 7 to 16; other values are written unchanged and rejected by the receiver.
    public init(
        ioCapability: IOCapability, hasOutOfBandData: Bool = false, authentication: AuthenticationRequirements,
        maximumKeySize: UInt8 = 16, initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
    ) {
        self.ioCapability = ioCapability
        self.hasOutOfBandData = hasOutOfBandData
        self.authentication = authentication
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }

    init(decoding reader: inout PacketReader) throws(DecodingError) {
        ioCapability = try reader.read(IOCapability.self, field: .ioCapability)
        hasOutOfBandData = try reader.readBoolean()
        authentication = AuthenticationRequirements(rawValue: try reader.read())
        maximumKeySize = try reader.read()
        guard (7...16).contains(maximumKeySize) else {
            throw .invalidValue(UInt64(maximumKeySize), field: .length)
        }
        initiatorKeys = KeyDistribution(rawValue: try reader.read())
        responderKeys = KeyDistribution(rawValue: try reader.read())
    }

    func encode(into packet: inout PacketWriter) {
        packet.write(ioCapability.rawValue)
        packet.write(UInt8(hasOutOfBandData ? 1 : 0))
        packet.write(authentication.rawValue)
        packet.write(maximumKeySize)
        packet.write(initiatorKeys.rawValue)
        packet.write(responderKeys.rawValue)
    }
}
