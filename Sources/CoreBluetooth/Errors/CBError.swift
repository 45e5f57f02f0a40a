// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The domain of `CBError`.
public let CBErrorDomain: String = "CBErrorDomain"

/// An error on this side or of the connection (SPEC 2.1).
///
/// It is an `NSError` of the domain `CBErrorDomain` as well: `(error as NSError).code` is the code's raw value.
public struct CBError: _BridgedStoredNSError, Sendable {
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
        guard error.domain == CBErrorDomain else { return nil }
        self.init(_nsError: error)
    }

    /// The error's code; `.unknown` for a number without a name.
    public var code: Code { Code(rawValue: _nsError.code) ?? .unknown }

    /// The error domain that Foundation requires: `CBErrorDomain`.
    public static var errorDomain: String { CBErrorDomain }
    /// The error domain that Foundation's bridging requires: `CBErrorDomain`.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// The error codes, with Apple's numbers (SPEC 2.1). The reasons below are those that the controller reports when a
    /// connection ends or cannot be established (SPEC appendix A).
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error of this code; Foundation's bridging requires it.
        public typealias _ErrorType = CBError

        /// An error without a specific code: another reason of the controller, a lost controller, a response of a
        /// peripheral that breaks the protocol.
        case unknown = 0
        /// The request is invalid: an advertisement with a key that is not allowed (SPEC PER-10); a service with an
        /// included service that is not published, with a property that an app may not set (SPEC PER-4) or with a value
        /// of more than 512 octets; an L2CAP channel whose PSM is not between 0x0001 and 0x00FF, or that this manager
        /// does not offer.
        case invalidParameters = 1
        /// The service, characteristic or descriptor no longer exists, because the peripheral changed its services
        /// during the request. Discover them again.
        case invalidHandle = 2
        /// The app wrote to a channel's stream after the channel had ended. Requests to a peripheral that is not
        /// connected do not fail with it; they are dropped with a line in the log (SPEC 2.3).
        case notConnected = 3
        /// No resources are left: too many requests to the peripheral are waiting, no attribute handle or PSM is free,
        /// the peripheral has no resources for another channel, or a controller has no memory or resources (reasons
        /// 0x07 and 0x0D).
        case outOfSpace = 4
        /// This system ended the connection although the app did not ask for it (reason 0x16), for example because a
        /// peripheral did not respond for 30 s.
        case operationCancelled = 5
        /// The device was silent for the supervision timeout (reason 0x08), or it did not respond to a request for 30
        /// s: then the request fails with this error and the connection ends.
        case connectionTimeout = 6
        /// The device ended the connection (reasons 0x13, 0x14 and 0x15). Also the error of a channel's streams when
        /// its connection is lost.
        case peripheralDisconnected = 7
        /// The app may not publish this service because the system provides it: Generic Access, Generic Attribute, the
        /// Apple Notification Center Service, or a service with a characteristic of the whole server (SPEC 2.4).
        case uuidNotAllowed = 8
        /// The manager is already advertising, or starting to: call `stopAdvertising()` first (SPEC 2.4).
        case alreadyAdvertising = 9
        /// The connection could not be established (reason 0x3E), or failed for a cause without a code. If a device
        /// goes away while this system connects to it, the system tries again silently (SPEC CEN-9). Also a channel
        /// that the peripheral refused for another reason.
        case connectionFailed = 10
        /// The controller (reason 0x09) or this system has reached its limit of connections, established or pending.
        case connectionLimitReached = 11
        /// The system knows no device with the peripheral's identifier; a scan finds it again (SPEC REC-5).
        case unknownDevice = 12
        /// The peripheral offers no channel with this PSM.
        case operationNotSupported = 13
        /// The device has lost its keys of the bond: it ended the connection because of that (reasons 0x05 and 0x06),
        /// or refused the encryption that a request needs. Remove the bond here before pairing again.
        case peerRemovedPairingInformation = 14
        /// The device was silent for 30 s during a pairing that a request needs. Or the connection ended because the
        /// device did not respond to a link layer procedure (reason 0x22), usually the start of encryption, or because
        /// the integrity check of an encrypted packet failed (reason 0x3D).
        case encryptionTimedOut = 15
        /// A request needs pairing, but the limit of bonds is reached. Remove a bond first.
        case tooManyLEPairedDevices = 16
        /// Never used here; only watchOS has it (SPEC 2.1).
        case leGattExceededBackgroundNotificationLimit = 17
        /// Never used here; only watchOS has it (SPEC 2.1).
        case leGattNearBackgroundNotificationLimit = 18

        /// The former spelling of `unknownDevice`.
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Code { .unknownDevice }

        /// Whether an error has this code: a value of this type or an `NSError` of its domain.
        public static func ~= (code: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == CBErrorDomain && error.code == code.rawValue
        }
    }

    /// An error without a specific code: see `Code.unknown`.
    public static var unknown: Code { .unknown }
    /// The request is invalid: see `Code.invalidParameters`.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute no longer exists: see `Code.invalidHandle`.
    public static var invalidHandle: Code { .invalidHandle }
    /// The channel has ended: see `Code.notConnected`.
    public static var notConnected: Code { .notConnected }
    /// No resources are left for the request: see `Code.outOfSpace`.
    public static var outOfSpace: Code { .outOfSpace }
    /// This system ended the connection: see `Code.operationCancelled`.
    public static var operationCancelled: Code { .operationCancelled }
    /// The device is silent: see `Code.connectionTimeout`.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The device ended the connection: see `Code.peripheralDisconnected`.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The system provides this service itself: see `Code.uuidNotAllowed`.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager is already advertising: see `Code.alreadyAdvertising`.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection or channel could not be established: see `Code.connectionFailed`.
    public static var connectionFailed: Code { .connectionFailed }
    /// The limit of connections is reached: see `Code.connectionLimitReached`.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The system knows no device with this identifier: see `Code.unknownDevice`.
    public static var unknownDevice: Code { .unknownDevice }
    /// The peripheral does not offer this channel: see `Code.operationNotSupported`.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The device has lost its keys of the bond: see `Code.peerRemovedPairingInformation`.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// Encrypting the connection failed: see `Code.encryptionTimedOut`.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// The limit of bonds is reached: see `Code.tooManyLEPairedDevices`.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// Never used here: see `Code.leGattExceededBackgroundNotificationLimit`.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// Never used here: see `Code.leGattNearBackgroundNotificationLimit`.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The former spelling of `unknownDevice` (SPEC 2.1).
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }
}

extension CBError.Code {
    var text: String {
        switch self {
        case .unknown: "An unknown error occurred."
        case .invalidParameters: "One or more parameters were invalid."
        case .invalidHandle: "The specified attribute handle is invalid."
        case .notConnected: "The specified device is not connected."
        case .outOfSpace: "The device is out of space."
        case .operationCancelled: "The operation was cancelled."
        case .connectionTimeout: "The connection has timed out unexpectedly."
        case .peripheralDisconnected: "The specified device has disconnected from us."
        case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
        case .alreadyAdvertising: "Advertising has already started."
        case .connectionFailed: "The connection has failed unexpectedly."
        case .connectionLimitReached: "The device has reached its maximum number of connections."
        case .unknownDevice: "The device is unknown."
        case .operationNotSupported: "The operation is not supported."
        case .peerRemovedPairingInformation: "The peer has removed its pairing information."
        case .encryptionTimedOut: "Encrypting the connection has timed out."
        case .tooManyLEPairedDevices: "Too many devices are paired."
        case .leGattExceededBackgroundNotificationLimit: "The limit of notifications in the background is exceeded."
        case .leGattNearBackgroundNotificationLimit: "The limit of notifications in the background is near."
        }
    }
}
