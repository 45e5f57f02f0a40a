/// Why a server refused a request (Core 5.4, Vol 3, Part F, 3.4.1.1; SPEC 2.1).
///
/// The code is the one in the PDU; 0x80 to 0x9F belong to the application, 0xE0 to 0xFF to common profiles.
public struct ATTError: RawRepresentable, Hashable, Error, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The handle names no attribute of the server, or a range begins at zero or ends before its beginning.
    public static let invalidHandle = ATTError(rawValue: 0x01)
    /// The attribute can never be read with this request, regardless of the link's security.
    public static let readNotPermitted = ATTError(rawValue: 0x02)
    /// The attribute can never be written with this request, regardless of the link's security.
    public static let writeNotPermitted = ATTError(rawValue: 0x03)
    /// The request has a form that its opcode does not allow, such as a wrong length.
    public static let invalidPDU = ATTError(rawValue: 0x04)
    /// The attribute requires pairing, or a key that is protected against a man in the middle. The client pairs and
    /// repeats the request (Core 5.4, Vol 3, Part C, 10.3.1).
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)
    /// The server does not know the request, or does without it. Commands and signed commands that it does not know get
    /// no answer at all.
    public static let requestNotSupported = ATTError(rawValue: 0x06)
    /// The offset of a Read Blob or of a queued write is beyond the end of the value. Reading at an offset equal to the
    /// length is valid and returns an empty part.
    public static let invalidOffset = ATTError(rawValue: 0x07)
    /// The server's user or application did not allow this client to use the attribute.
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)
    /// The server has no room for another Prepare Write Request; what is in the queue stays there.
    public static let prepareQueueFull = ATTError(rawValue: 0x09)
    /// The range has no matching attribute. This ends a search by range.
    public static let attributeNotFound = ATTError(rawValue: 0x0A)
    /// The value cannot be read with Read Blob Request, because Read Request returns all of it.
    public static let attributeNotLong = ATTError(rawValue: 0x0B)
    /// The link is encrypted with a shorter key than the attribute requires; only a new pairing gives a longer one.
    public static let insufficientEncryptionKeySize = ATTError(rawValue: 0x0C)
    /// The value that is written is longer or shorter than the attribute can hold.
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)
    // swift-format-ignore: DontRepeatTypeInStaticProperties
    /// An error in the server for which there is no other code.
    public static let unlikelyError = ATTError(rawValue: 0x0E)
    /// The attribute requires encryption and the link is not encrypted, although the devices are bonded. The client
    /// encrypts with the bond's key and repeats the request (Core 5.4, Vol 3, Part C, 10.3.1).
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)
    /// Read By Group Type Request names a type that groups no attributes in this server.
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)
    /// The server lacks resources, such as memory, for the request.
    public static let insufficientResources = ATTError(rawValue: 0x11)
    /// The server's attributes changed and the client still goes by the old ones; it has to discover again (Core 5.4,
    /// Vol 3, Part G, 2.5.2.1).
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)
    /// The value that is written has the right length, but the attribute does not take it.
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
    /// The first of the application's own codes.
    public static let firstOfApplication = ATTError(rawValue: 0x80)
    /// The write cannot be carried out for another reason than permissions (Core Specification Supplement, Part B).
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)
    /// The client has not enabled the notification or indication that the request requires (Core Specification
    /// Supplement, Part B).
    public static let clientCharacteristicConfigurationImproperlyConfigured = ATTError(rawValue: 0xFD)
    /// The server still carries out what an earlier request of the same service began
    /// (Core Specification Supplement, Part B).
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)
    /// The value is outside the range of the profile or service (Core Specification Supplement, Part B).
    public static let outOfRange = ATTError(rawValue: 0xFF)

    /// Whether the code is one of 0x80 to 0x9F, whose meaning the service defines.
    @inlinable public var isApplicationError: Bool { rawValue >= 0x80 && rawValue <= 0x9F }
    /// Whether the code is one of 0xE0 to 0xFF, which mean the same in every profile and service (Core Specification
    /// Supplement, Part B).
    @inlinable public var isCommonProfileError: Bool { rawValue >= 0xE0 }
}

extension ATTError: CustomStringConvertible {
    /// The specification's name, or only the code: `Read Not Permitted`, `application error 0x80`.
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
