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

    /// Wraps an error without checking its domain; Foundation's bridging requires this. Apps use `init(_:)`, which
    /// checks it.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error with a readable description.
    public init(_ code: Code) { self.init(code, userInfo: [NSLocalizedDescriptionKey: code.text]) }

    /// Converts any error of this domain; `nil` for others. On Linux, a cast does not turn an `NSError` into this type.
    public init?(_ error: any Error) {
        let error = error as NSError
        guard error.domain == CBATTErrorDomain else { return nil }
        self.init(_nsError: error)
    }

    /// The error domain that Foundation requires: `CBATTErrorDomain`.
    public static var errorDomain: String { CBATTErrorDomain }
    /// The error domain that Foundation's bridging requires: `CBATTErrorDomain`.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// The error code of an ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1), one octet.
    ///
    /// An app uses it in two ways. As a central, it finds the code in the error of a delegate's call when the
    /// peripheral responded with an error. As a peripheral, it rejects a request with
    /// `CBPeripheralManager.respond(to:withResult:)`. Each code says when this system itself sends it to centrals. A
    /// code without a name, such as an application error from 0x80 on, is `unnamed`: the domain decides what an error
    /// is (SPEC 2.1).
    public enum Code: RawRepresentable, Hashable, Sendable, _ErrorCodeProtocol {
        /// The error of this code; Foundation's bridging requires it.
        public typealias _ErrorType = CBATTError

        /// The request succeeded; only for `respond(to:withResult:)`.
        case success
        /// No attribute has this handle, often because the peripheral's services have changed. This system sends it to
        /// centrals that request a removed service.
        case invalidHandle
        /// The value cannot be read. This system sends it unless the properties have `read` and the permissions allow
        /// reading (SPEC PER-2, CEN-14).
        case readNotPermitted
        /// The value cannot be written. This system sends it unless both properties and permissions allow this kind of
        /// write (SPEC PER-2).
        case writeNotPermitted
        /// The request is malformed or longer than ATT_MTU. This system sends it, too.
        case invalidPdu
        /// The central has to pair first. An app receives it only when pairing could not help (SPEC 2.3). This system
        /// sends it to a central that has not paired, for values that need encryption (SPEC 2.4).
        case insufficientAuthentication
        /// The request is not supported. `setNotifyValue(_:for:)` also fails with it, without a request to the
        /// peripheral, when the characteristic has no notifications or indications (SPEC CEN-15, CEN-16). This system
        /// sends it when the delegate does not implement the method for reads or writes.
        case requestNotSupported
        /// The offset is past the end of the value. This system sends it for values that it stores; for dynamic values
        /// the app has to (SPEC PER-14).
        case invalidOffset
        /// The user of the other device, or its app, does not allow the request. Pairing does not help and is not tried
        /// (SPEC 2.3). This system never sends it by itself.
        case insufficientAuthorization
        /// A central prepared more writes than this system stores for one central.
        case prepareQueueFull
        /// No attribute in the range has this type. It ends a discovery and is not reported as an error.
        case attributeNotFound
        /// The value fits into one response. It ends the reading of a long value and is not reported as an error.
        case attributeNotLong
        /// The encryption key is shorter than required. An app receives it when a new pairing could not make the key
        /// longer (SPEC 2.3). This system requires no key size for an app's values.
        case insufficientEncryptionKeySize
        /// The value has the wrong length for the attribute. A write of more than 512 octets fails with it without a
        /// request to the peripheral; this system sends it to centrals that write more than 512 octets.
        case invalidAttributeValueLength
        /// An error that no other code describes. This system sends it while the app may not serve in the background
        /// (SPEC FGO-3, 2.4), and when the manager has no delegate.
        case unlikelyError
        /// The connection has to be encrypted first. An app receives it only when pairing could not help (SPEC 2.3).
        /// This system sends it to a central that has paired, on a connection that is not encrypted (SPEC 2.4).
        case insufficientEncryption
        /// Attributes of this type do not group others. This system sends it to centrals that look for groups other
        /// than services.
        case unsupportedGroupType
        /// The peripheral has no resources for the request. This system never sends it by itself.
        case insufficientResources

        /// A code without a name. `Code(rawValue:)` creates it, as on Apple's system; 0x80 to 0x9F are application
        /// errors.
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

        /// The error code: one octet, except for `unnamed` with another number.
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

        /// Whether an error has this code: a value of this type or an `NSError` of its domain.
        public static func ~= (code: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == CBATTErrorDomain && error.code == code.rawValue
        }
    }

    /// The request succeeded: see `Code.success`.
    public static var success: Code { .success }
    /// No attribute has this handle: see `Code.invalidHandle`.
    public static var invalidHandle: Code { .invalidHandle }
    /// The value cannot be read: see `Code.readNotPermitted`.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The value cannot be written this way: see `Code.writeNotPermitted`.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request is malformed: see `Code.invalidPdu`.
    public static var invalidPdu: Code { .invalidPdu }
    /// The devices have to pair first: see `Code.insufficientAuthentication`.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The request is not supported, or the characteristic has no subscriptions: see `Code.requestNotSupported`.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value: see `Code.invalidOffset`.
    public static var invalidOffset: Code { .invalidOffset }
    /// The other device does not allow it: see `Code.insufficientAuthorization`.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many writes were prepared: see `Code.prepareQueueFull`.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// No attribute has this type: see `Code.attributeNotFound`.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The value fits into one response: see `Code.attributeNotLong`.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The key is too short: see `Code.insufficientEncryptionKeySize`.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value has the wrong length: see `Code.invalidAttributeValueLength`.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// An error that no other code describes: see `Code.unlikelyError`.
    public static var unlikelyError: Code { .unlikelyError }
    /// The connection has to be encrypted first: see `Code.insufficientEncryption`.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attributes do not group others: see `Code.unsupportedGroupType`.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The peripheral has no resources: see `Code.insufficientResources`.
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
