/// A controller's error code; zero is success (Core 5.4, Vol 1, Part F).
public struct HCIStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether the code is zero; every other code is an error or the reason of a disconnection.
    @inlinable public var isSuccess: Bool { rawValue == 0 }

    /// Success.
    public static let success = HCIStatus(rawValue: 0x00)
    /// The controller does not have the command.
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    /// The handle names no link; often the link has just ended.
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    /// The controller's hardware failed, without a more specific code.
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    /// Pairing or authentication gave a wrong result.
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The other side does not have the key with which the link was to be encrypted: it has lost or removed the bond.
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    /// The controller's memory is full, or a list in it.
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// The supervision timeout: the peer is out of range or switched off.
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// The controller cannot hold more links.
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// There is a link to this device already.
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    /// The command does not fit the state that the controller is in.
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    /// The other side lacks the means for the link.
    public static let rejectedLimitedResources = HCIStatus(rawValue: 0x0D)
    /// The link does not satisfy what the other side demands of its security.
    public static let rejectedForSecurity = HCIStatus(rawValue: 0x0E)
    /// The other side does not take links from this address.
    public static let rejectedUnacceptableAddress = HCIStatus(rawValue: 0x0F)
    /// The controller supports the command, but not one of its values.
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    /// A parameter is out of range, or contradicts another one.
    public static let invalidCommandParameters = HCIStatus(rawValue: 0x12)
    /// The peer disconnected; also the usual reason for disconnecting.
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    /// The other side ended the link because it lacks the means for it.
    public static let remoteDeviceLowResources = HCIStatus(rawValue: 0x14)
    /// The other side ended the link because it is about to switch itself off.
    public static let remoteDevicePowerOff = HCIStatus(rawValue: 0x15)
    /// This host disconnected.
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    /// The device does not permit pairing now.
    public static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    /// The peer does not support the request; also a reason for disconnecting.
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    /// An error for which there is no other code.
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    /// A value in a packet of the Link Layer is not supported by the side that got it.
    public static let unsupportedLMPParameterValue = HCIStatus(rawValue: 0x20)
    /// BR/EDR: the devices do not exchange their roles now.
    public static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    /// The other side's Link Layer did not answer within 40 s; the link ends with this.
    public static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    /// The peer started the same link layer procedure at the same time.
    public static let llProcedureCollision = HCIStatus(rawValue: 0x23)
    /// The requested encryption is not acceptable now.
    public static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    /// The instant of a change had passed when the change arrived; the link ends with this reason.
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    /// BR/EDR: one device wanted a kind of key that the other does not take.
    public static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    /// The peer started an incompatible link layer procedure at the same time.
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    /// The device does not support channel classification.
    public static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2E)
    /// The request needs a more secure link.
    public static let insufficientSecurity = HCIStatus(rawValue: 0x2F)
    /// A value is outside the range that every device must support.
    public static let parameterOutOfMandatoryRange = HCIStatus(rawValue: 0x30)
    /// The controller is too busy; a later attempt may succeed.
    public static let controllerBusy = HCIStatus(rawValue: 0x3A)
    /// The peer does not accept these connection parameters; also a reason for disconnecting.
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    /// The advertising duration is over; for directed advertising, without a connection.
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    /// A packet of an encrypted link failed its check, as when the two sides use different keys. It ends the link.
    public static let connectionTerminatedDueToMICFailure = HCIStatus(rawValue: 0x3D)
    /// The link was made, but the peer was not received within the first six connection events. Common at the edge of
    /// the range; another attempt often succeeds. For a periodic train: it was not found.
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    /// No advertising set or periodic train has this handle.
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    /// An activity ended after the requested number of operations, such as advertising events.
    public static let limitReached = HCIStatus(rawValue: 0x43)
    /// The host cancelled the operation, as with `LEPeriodicAdvertisingCreateSyncCancel`.
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    /// A packet that was to be sent, or was received, is longer than allowed.
    public static let packetTooLong = HCIStatus(rawValue: 0x45)
    /// What was to be sent at a certain time came after it.
    public static let tooLate = HCIStatus(rawValue: 0x46)
}

extension HCIStatus: CustomStringConvertible {
    /// The meaning of the code and its number: `connection timeout (0x08)`; only the number of an unnamed code.
    public var description: String {
        let number: [UInt8] = [hexadecimalCharacter(rawValue >> 4), hexadecimalCharacter(rawValue & 15)]
        let code = "0x" + String(decoding: number, as: UTF8.self)
        guard let meaning else { return code }
        return meaning + " (" + code + ")"
    }

    private var meaning: String? {
        switch self {
        case .success: "success"
        case .unknownCommand: "unknown command"
        case .unknownConnectionIdentifier: "unknown connection"
        case .hardwareFailure: "hardware failure"
        case .authenticationFailure: "authentication failure"
        case .pinOrKeyMissing: "PIN or key missing"
        case .memoryCapacityExceeded: "memory capacity exceeded"
        case .connectionTimeout: "connection timeout"
        case .connectionLimitExceeded: "connection limit exceeded"
        case .connectionAlreadyExists: "connection already exists"
        case .commandDisallowed: "command disallowed"
        case .rejectedLimitedResources: "rejected for limited resources"
        case .rejectedForSecurity: "rejected for security"
        case .rejectedUnacceptableAddress: "rejected for an unacceptable address"
        case .unsupportedFeatureOrParameterValue: "unsupported feature or parameter value"
        case .invalidCommandParameters: "invalid command parameters"
        case .remoteUserTerminatedConnection: "remote user terminated the connection"
        case .remoteDeviceLowResources: "remote device is low on resources"
        case .remoteDevicePowerOff: "remote device powers off"
        case .connectionTerminatedByLocalHost: "connection terminated by the local host"
        case .pairingNotAllowed: "pairing not allowed"
        case .unsupportedRemoteFeature: "unsupported remote feature"
        case .unspecifiedError: "unspecified error"
        case .unsupportedLMPParameterValue: "unsupported LL parameter value"
        case .roleChangeNotAllowed: "role change not allowed"
        case .llResponseTimeout: "link layer response timeout"
        case .llProcedureCollision: "link layer procedure collision"
        case .encryptionModeNotAcceptable: "encryption mode not acceptable"
        case .instantPassed: "instant passed"
        case .pairingWithUnitKeyNotSupported: "pairing with unit key not supported"
        case .differentTransactionCollision: "different transaction collision"
        case .channelClassificationNotSupported: "channel classification not supported"
        case .insufficientSecurity: "insufficient security"
        case .parameterOutOfMandatoryRange: "parameter out of mandatory range"
        case .controllerBusy: "controller busy"
        case .unacceptableConnectionParameters: "unacceptable connection parameters"
        case .advertisingTimeout: "advertising timeout"
        case .connectionTerminatedDueToMICFailure: "connection terminated due to MIC failure"
        case .connectionFailedToBeEstablished: "connection failed to be established"
        case .unknownAdvertisingIdentifier: "unknown advertising identifier"
        case .limitReached: "limit reached"
        case .operationCancelledByHost: "operation cancelled by host"
        case .packetTooLong: "packet too long"
        case .tooLate: "too late"
        default: nil
        }
    }
}
