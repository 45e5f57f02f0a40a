/// A controller's error code; zero is success (Core 5.4, Vol 1, Part F).
public struct HCIStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public var isSuccess: Bool { rawValue == 0 }

    public static let success = HCIStatus(rawValue: 0x00)
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    public static let rejectedLimitedResources = HCIStatus(rawValue: 0x0D)
    public static let rejectedForSecurity = HCIStatus(rawValue: 0x0E)
    public static let rejectedUnacceptableAddress = HCIStatus(rawValue: 0x0F)
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    public static let invalidCommandParameters = HCIStatus(rawValue: 0x12)
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    public static let remoteDeviceLowResources = HCIStatus(rawValue: 0x14)
    public static let remoteDevicePowerOff = HCIStatus(rawValue: 0x15)
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    public static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    public static let unsupportedLMPParameterValue = HCIStatus(rawValue: 0x20)
    public static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    public static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    public static let llProcedureCollision = HCIStatus(rawValue: 0x23)
    public static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    public static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    public static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2E)
    public static let insufficientSecurity = HCIStatus(rawValue: 0x2F)
    public static let parameterOutOfMandatoryRange = HCIStatus(rawValue: 0x30)
    public static let controllerBusy = HCIStatus(rawValue: 0x3A)
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    public static let connectionTerminatedDueToMICFailure = HCIStatus(rawValue: 0x3D)
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    public static let limitReached = HCIStatus(rawValue: 0x43)
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    public static let packetTooLong = HCIStatus(rawValue: 0x45)
}

extension HCIStatus: CustomStringConvertible {
    /// What the code means and its number: `connection timeout (0x08)`; the number alone where it has no name here.
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
        default: nil
        }
    }
}
