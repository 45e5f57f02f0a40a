/// Why a server refused a request (Core 5.4, Vol 3, Part F, 3.4.1.1; SPEC 2.1).
///
/// The code is whatever stood on the wire; 0x80 to 0x9F belong to the application, 0xE0 to 0xFF to common profiles.
public struct ATTError: RawRepresentable, Hashable, Error, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let invalidHandle = ATTError(rawValue: 0x01)
    public static let readNotPermitted = ATTError(rawValue: 0x02)
    public static let writeNotPermitted = ATTError(rawValue: 0x03)
    public static let invalidPDU = ATTError(rawValue: 0x04)
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)
    public static let requestNotSupported = ATTError(rawValue: 0x06)
    public static let invalidOffset = ATTError(rawValue: 0x07)
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)
    public static let prepareQueueFull = ATTError(rawValue: 0x09)
    public static let attributeNotFound = ATTError(rawValue: 0x0A)
    public static let attributeNotLong = ATTError(rawValue: 0x0B)
    public static let insufficientEncryptionKeySize = ATTError(rawValue: 0x0C)
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)
    // swift-format-ignore: DontRepeatTypeInStaticProperties
    public static let unlikelyError = ATTError(rawValue: 0x0E)
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)
    public static let insufficientResources = ATTError(rawValue: 0x11)
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
    /// The first of the application's own codes.
    public static let firstOfApplication = ATTError(rawValue: 0x80)
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)
    public static let clientCharacteristicConfigurationImproperlyConfigured = ATTError(rawValue: 0xFD)
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)
    public static let outOfRange = ATTError(rawValue: 0xFF)

    @inlinable public var isApplicationError: Bool { rawValue >= 0x80 && rawValue <= 0x9F }
    @inlinable public var isCommonProfileError: Bool { rawValue >= 0xE0 }
}

extension ATTError: CustomStringConvertible {
    /// The specification's name, or the code alone: `Read Not Permitted`, `application error 0x80`.
    public var description: String {
        switch rawValue {
        case 0x01: "Invalid Handle"
        case 0x02: "Read Not Permitted"
        case 0x03: "Write Not Permitted"
        case 0x04: "Invalid PDU"
        case 0x05: "Insufficient Authentication"
        case 0x06: "Request Not Supported"
        case 0x07: "Invalid Offset"
        case 0x08: "Insufficient Authorization"
        case 0x09: "Prepare Queue Full"
        case 0x0A: "Attribute Not Found"
        case 0x0B: "Attribute Not Long"
        case 0x0C: "Encryption Key Size Too Short"
        case 0x0D: "Invalid Attribute Value Length"
        case 0x0E: "Unlikely Error"
        case 0x0F: "Insufficient Encryption"
        case 0x10: "Unsupported Group Type"
        case 0x11: "Insufficient Resources"
        case 0x12: "Database Out Of Sync"
        case 0x13: "Value Not Allowed"
        case 0x80...0x9F: "application error " + code
        case 0xFC: "Write Request Rejected"
        case 0xFD: "Client Characteristic Configuration Descriptor Improperly Configured"
        case 0xFE: "Procedure Already in Progress"
        case 0xFF: "Out of Range"
        default: "error " + code
        }
    }

    /// `0x80`
    public var code: String {
        let digits =
            [UInt8(ascii: "0"), UInt8(ascii: "x")]
            + [hexadecimalCharacter(rawValue >> 4), hexadecimalCharacter(rawValue & 15)]
        return String(decoding: digits, as: UTF8.self)
    }
}

#if !hasFeature(Embedded)
extension ATTError: Codable {}
#endif
