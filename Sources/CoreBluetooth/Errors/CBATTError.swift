// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The domain of `CBATTError`.
public let CBATTErrorDomain: String = "CBATTErrorDomain"

/// An error that the Attribute Protocol carries (SPEC 2.1; Core 5.4, Vol 3, Part F, 3.4.1.1).
///
/// It is an `NSError` of the domain `CBATTErrorDomain` as well: `(error as NSError).code` is the code's raw value.
public struct CBATTError: _BridgedStoredNSError, Sendable {
    /// The error as Foundation carries it.
    public let _nsError: NSError

    /// Takes an error as it is, whatever its domain; Foundation's bridging asks for it. Apps use `init(_:)`, which
    /// checks.
    public init(_nsError error: NSError) { _nsError = error }

    /// An error with its text for people.
    public init(_ code: Code) { self.init(code, userInfo: [NSLocalizedDescriptionKey: code.text]) }

    /// Takes any error of the domain; `nil` for others. A cast does not turn an `NSError` into this type on Linux.
    public init?(_ error: any Error) {
        let error = error as NSError
        guard error.domain == CBATTErrorDomain else { return nil }
        self.init(_nsError: error)
    }

    /// As Foundation asks for it: `CBATTErrorDomain`.
    public static var errorDomain: String { CBATTErrorDomain }
    /// As Foundation's bridging asks for it: `CBATTErrorDomain`.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// The octet that an attribute server answers with (Core 5.4, Vol 3, Part F, 3.4.1.1).
    ///
    /// An app meets it twice: as a central, in the error of a delegate's call, where the peripheral answered so; and as
    /// a peripheral, where it refuses a request itself with `CBPeripheralManager.respond(to:withResult:)`. What this
    /// system answers to centrals by itself is said at each code. An octet without a name, such as an app's own from
    /// 0x80 on, is `unnamed`: the domain decides what an error is (SPEC 2.1).
    public enum Code: RawRepresentable, Hashable, Sendable, _ErrorCodeProtocol {
        /// The error that a code makes; Foundation's bridging asks for it.
        public typealias _ErrorType = CBATTError

        /// The request is carried out: for `respond(to:withResult:)` alone.
        case success
        /// No attribute has this handle, often because the peripheral's services have changed. This system answers it
        /// to centrals that ask for a service which has been removed.
        case invalidHandle
        /// This system answers it unless the properties have `read` and the permissions allow reading (SPEC PER-2,
        /// CEN-14).
        case readNotPermitted
        /// This system answers it unless both properties and permissions allow this kind of writing (SPEC PER-2).
        case writeNotPermitted
        /// The request cannot be taken apart, or is longer than ATT_MTU; this system answers it, too.
        case invalidPdu
        /// The central has to pair first. To an app it is told only where pairing could not help (SPEC 2.3). This
        /// system answers it to a central that has not paired, for values that need encryption (SPEC 2.4).
        case insufficientAuthentication
        /// Also told here, without asking the peripheral, by `setNotifyValue(_:for:)` where nobody can subscribe
        /// (SPEC CEN-15, CEN-16), and answered for a delegate that does not implement the call for reads or writes.
        case requestNotSupported
        /// The offset lies behind the end of the value. This system answers it for values that it keeps; for dynamic
        /// values the app has to (SPEC PER-14).
        case invalidOffset
        /// The user of the other device, or its app, does not allow it; pairing does not cure that, and is not tried
        /// (SPEC 2.3). This system never answers it by itself.
        case insufficientAuthorization
        /// A central prepared more writes than this system keeps for one.
        case prepareQueueFull
        /// Nothing in the range is of the type. Ends a discovery without being told as an error.
        case attributeNotFound
        /// The value fits into one answer. Ends the reading of a long value without being told as an error.
        case attributeNotLong
        /// The key of the connection is shorter than is demanded; told when a new pairing could not make it longer
        /// (SPEC 2.3). This system demands no length for an app's values.
        case insufficientEncryptionKeySize
        /// The value is longer or shorter than the attribute takes. Told here, without asking the peripheral, when more
        /// than 512 octets are to be written; answered to centrals that write more.
        case invalidAttributeValueLength
        /// No code says it better. This system answers it while the app may not serve in the background (SPEC FGO-3,
        /// 2.4), and where the manager has no delegate.
        case unlikelyError
        /// The connection has to be encrypted first. To an app it is told only where pairing could not help (SPEC 2.3).
        /// This system answers it to a central that has paired, on a connection that is not encrypted (SPEC 2.4).
        case insufficientEncryption
        /// The attributes of this type hold no others. This system answers it to centrals that look for groups which
        /// are no services.
        case unsupportedGroupType
        /// The peripheral has no room for the request. This system never answers it by itself.
        case insufficientResources

        /// An octet without a name. `Code(rawValue:)` makes it, as on Apple's system: 0x80 to 0x9F are an app's own.
        case unnamed(Int)

        /// Never `nil`.
        public init?(rawValue: Int) {
            self =
                switch rawValue {
                case 0x00: .success
                case 0x01: .invalidHandle
                case 0x02: .readNotPermitted
                case 0x03: .writeNotPermitted
                case 0x04: .invalidPdu
                case 0x05: .insufficientAuthentication
                case 0x06: .requestNotSupported
                case 0x07: .invalidOffset
                case 0x08: .insufficientAuthorization
                case 0x09: .prepareQueueFull
                case 0x0A: .attributeNotFound
                case 0x0B: .attributeNotLong
                case 0x0C: .insufficientEncryptionKeySize
                case 0x0D: .invalidAttributeValueLength
                case 0x0E: .unlikelyError
                case 0x0F: .insufficientEncryption
                case 0x10: .unsupportedGroupType
                case 0x11: .insufficientResources
                default: .unnamed(rawValue)
                }
        }

        /// The octet.
        public var rawValue: Int {
            switch self {
            case .success: 0x00
            case .invalidHandle: 0x01
            case .readNotPermitted: 0x02
            case .writeNotPermitted: 0x03
            case .invalidPdu: 0x04
            case .insufficientAuthentication: 0x05
            case .requestNotSupported: 0x06
            case .invalidOffset: 0x07
            case .insufficientAuthorization: 0x08
            case .prepareQueueFull: 0x09
            case .attributeNotFound: 0x0A
            case .attributeNotLong: 0x0B
            case .insufficientEncryptionKeySize: 0x0C
            case .invalidAttributeValueLength: 0x0D
            case .unlikelyError: 0x0E
            case .insufficientEncryption: 0x0F
            case .unsupportedGroupType: 0x10
            case .insufficientResources: 0x11
            case .unnamed(let octet): octet
            }
        }

        /// Whether an error is of this code, be it a value of this type or an `NSError` of its domain.
        public static func ~= (code: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == CBATTErrorDomain && error.code == code.rawValue
        }
    }

    /// The request is carried out: see `Code.success`.
    public static var success: Code { .success }
    /// No attribute has this handle: see `Code.invalidHandle`.
    public static var invalidHandle: Code { .invalidHandle }
    /// The value cannot be read: see `Code.readNotPermitted`.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The value cannot be written in this way: see `Code.writeNotPermitted`.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request breaks the protocol: see `Code.invalidPdu`.
    public static var invalidPdu: Code { .invalidPdu }
    /// The devices have to pair first: see `Code.insufficientAuthentication`.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The request is unknown, or nobody can subscribe: see `Code.requestNotSupported`.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset lies behind the value: see `Code.invalidOffset`.
    public static var invalidOffset: Code { .invalidOffset }
    /// The other side does not allow it: see `Code.insufficientAuthorization`.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many writes were prepared: see `Code.prepareQueueFull`.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// Nothing of this type is there: see `Code.attributeNotFound`.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The value fits into one answer: see `Code.attributeNotLong`.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The key is too short: see `Code.insufficientEncryptionKeySize`.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value's length is none that is taken: see `Code.invalidAttributeValueLength`.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// No code says it better: see `Code.unlikelyError`.
    public static var unlikelyError: Code { .unlikelyError }
    /// The connection has to be encrypted first: see `Code.insufficientEncryption`.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attributes hold no others: see `Code.unsupportedGroupType`.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The peripheral has no room: see `Code.insufficientResources`.
    public static var insufficientResources: Code { .insufficientResources }
}

extension CBATTError.Code {
    var text: String {
        switch self {
        case .success: "The operation succeeded."
        case .invalidHandle: "The handle is invalid."
        case .readNotPermitted: "Reading is not permitted."
        case .writeNotPermitted: "Writing is not permitted."
        case .invalidPdu: "The command is invalid."
        case .insufficientAuthentication: "Authentication is insufficient."
        case .requestNotSupported: "The request is not supported."
        case .invalidOffset: "The offset is invalid."
        case .insufficientAuthorization: "Authorization is insufficient."
        case .prepareQueueFull: "The prepare queue is full."
        case .attributeNotFound: "The attribute could not be found."
        case .attributeNotLong: "The attribute is not long."
        case .insufficientEncryptionKeySize: "The encryption key size is insufficient."
        case .invalidAttributeValueLength: "The value's length is invalid."
        case .unlikelyError: "Unlikely error."
        case .insufficientEncryption: "Encryption is insufficient."
        case .unsupportedGroupType: "The group type is unsupported."
        case .insufficientResources: "Resources are insufficient."
        case .unnamed: "Unknown ATT error."
        }
    }
}
