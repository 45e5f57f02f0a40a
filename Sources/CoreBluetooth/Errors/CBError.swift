// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The domain of `CBError`.
public let CBErrorDomain: String = "CBErrorDomain"

/// What went wrong on this side or with the connection (SPEC 2.1).
///
/// It is an `NSError` of the domain `CBErrorDomain` as well: `(error as NSError).code` is the code's raw value.
public struct CBError: _BridgedStoredNSError, Sendable {
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
        guard error.domain == CBErrorDomain else { return nil }
        self.init(_nsError: error)
    }

    /// What went wrong; `.unknown` for a number that has no name.
    public var code: Code { Code(rawValue: _nsError.code) ?? .unknown }

    /// As Foundation asks for it: `CBErrorDomain`.
    public static var errorDomain: String { CBErrorDomain }
    /// As Foundation's bridging asks for it: `CBErrorDomain`.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// What went wrong, with Apple's numbers (SPEC 2.1). The reasons below are those of the controller for which a
    /// connection ended or was not made (SPEC appendix A).
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error that a code makes; Foundation's bridging asks for it.
        public typealias _ErrorType = CBError

        /// Everything that has no code of its own: another reason of the controller, a controller that was lost, an
        /// answer of a peripheral that breaks the protocol.
        case unknown = 0
        /// A request contradicts itself: an advertisement with a key that is not allowed (SPEC PER-10), a service with
        /// an included service that is not published, with a property that an app may not give (SPEC PER-4) or with a
        /// value of more than 512 octets, an L2CAP channel whose number is not between 0x0001 and 0x00FF or that is not
        /// offered by this manager.
        case invalidParameters = 1
        /// The service, characteristic or descriptor is no more, because the peripheral changed its services while the
        /// request was on its way: discover them again.
        case invalidHandle = 2
        /// A channel's stream was written to after its channel had ended. Requests to a peripheral that is not
        /// connected are dropped with a line in the log instead (SPEC 2.3).
        case notConnected = 3
        /// There is no room: too many requests to the peripheral wait, no attribute handle or channel number is free,
        /// the peripheral has none for another channel, or a controller has no memory or resources (reasons 0x07 and
        /// 0x0D).
        case outOfSpace = 4
        /// This system ended the connection for another cause than the app's wish (reason 0x16): a peripheral that did
        /// not answer a request for 30 s is let go so.
        case operationCancelled = 5
        /// The device was not heard for the supervision timeout (reason 0x08), or it did not answer a request for 30 s:
        /// then the request fails so and the connection is ended.
        case connectionTimeout = 6
        /// The device ended the connection (reasons 0x13, 0x14 and 0x15). Also the error of a channel's streams when
        /// the connection below it was lost.
        case peripheralDisconnected = 7
        /// A service that an app may not publish, because the system has it: Generic Access, Generic Attribute and the
        /// Apple Notification Center Service, or a characteristic of the server as a whole (SPEC 2.4).
        case uuidNotAllowed = 8
        /// The manager advertises already, or has asked for it: `stopAdvertising()` comes first (SPEC 2.4).
        case alreadyAdvertising = 9
        /// The connection could not be established (reason 0x3E), or not be made for a cause that has no code. A device
        /// that goes away while it is being connected to is tried again without a word (SPEC CEN-9). Also a channel
        /// that the peripheral refused for a cause of its own.
        case connectionFailed = 10
        /// As many connections stand, or are sought, as the controller (reason 0x09) or this system can hold.
        case connectionLimitReached = 11
        /// The peripheral's identifier stands for no device that this system knows; a scan finds it again (SPEC REC-5).
        case unknownDevice = 12
        /// The peripheral offers no channel under this number.
        case operationNotSupported = 13
        /// The device has lost its half of the bond: it ended the connection for it (reasons 0x05 and 0x06), or refused
        /// the encryption that a request needs. The bond has to be removed here before the two can pair again.
        case peerRemovedPairingInformation = 14
        /// The device was silent for 30 s of a pairing that a request needs, or the connection ended because it did not
        /// answer a procedure of the link layer (reason 0x22), the beginning of encryption as a rule, or because an
        /// encrypted packet failed its check (reason 0x3D).
        case encryptionTimedOut = 15
        /// A request needs pairing, and as many bonds are kept as can be: one has to be removed first.
        case tooManyLEPairedDevices = 16
        /// Never comes up here: it belongs to watchOS (SPEC 2.1).
        case leGattExceededBackgroundNotificationLimit = 17
        /// Never comes up here: it belongs to watchOS (SPEC 2.1).
        case leGattNearBackgroundNotificationLimit = 18

        /// The first spelling of `unknownDevice`.
        @available(*, deprecated, renamed: "unknownDevice")
        public static var unkownDevice: Code { .unknownDevice }

        /// Whether an error is of this code, be it a value of this type or an `NSError` of its domain.
        public static func ~= (code: Code, error: any Error) -> Bool {
            let error = error as NSError
            return error.domain == CBErrorDomain && error.code == code.rawValue
        }
    }

    /// No reason that has a code: see `Code.unknown`.
    public static var unknown: Code { .unknown }
    /// The request contradicts itself: see `Code.invalidParameters`.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute is no more: see `Code.invalidHandle`.
    public static var invalidHandle: Code { .invalidHandle }
    /// The channel has ended: see `Code.notConnected`.
    public static var notConnected: Code { .notConnected }
    /// There is no room for the request: see `Code.outOfSpace`.
    public static var outOfSpace: Code { .outOfSpace }
    /// This system ended the connection: see `Code.operationCancelled`.
    public static var operationCancelled: Code { .operationCancelled }
    /// The device is silent: see `Code.connectionTimeout`.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The device ended the connection: see `Code.peripheralDisconnected`.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The system has this service itself: see `Code.uuidNotAllowed`.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager advertises already: see `Code.alreadyAdvertising`.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection or channel did not come about: see `Code.connectionFailed`.
    public static var connectionFailed: Code { .connectionFailed }
    /// No more connections can be held: see `Code.connectionLimitReached`.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The identifier stands for no known device: see `Code.unknownDevice`.
    public static var unknownDevice: Code { .unknownDevice }
    /// The peripheral does not offer this channel: see `Code.operationNotSupported`.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The device has lost its half of the bond: see `Code.peerRemovedPairingInformation`.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// Encrypting the connection failed: see `Code.encryptionTimedOut`.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// There is no room for another bond: see `Code.tooManyLEPairedDevices`.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// Never comes up here: see `Code.leGattExceededBackgroundNotificationLimit`.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// Never comes up here: see `Code.leGattNearBackgroundNotificationLimit`.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The first spelling of `unknownDevice` (SPEC 2.1).
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
