/// The code of an event (Core 5.4, Vol 4, Part E, 7.7).
public struct HCIEventCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
    public static let encryptionChange = HCIEventCode(rawValue: 0x08)
    public static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0C)
    public static let commandComplete = HCIEventCode(rawValue: 0x0E)
    public static let commandStatus = HCIEventCode(rawValue: 0x0F)
    public static let hardwareError = HCIEventCode(rawValue: 0x10)
    public static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
    public static let dataBufferOverflow = HCIEventCode(rawValue: 0x1A)
    public static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
    public static let leMeta = HCIEventCode(rawValue: 0x3E)
    public static let authenticatedPayloadTimeoutExpired = HCIEventCode(rawValue: 0x57)
    public static let encryptionChangeV2 = HCIEventCode(rawValue: 0x59)
    public static let vendorSpecific = HCIEventCode(rawValue: 0xFF)
}

/// The subevent of an LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).
public struct LESubeventCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let connectionComplete = LESubeventCode(rawValue: 0x01)
    public static let advertisingReport = LESubeventCode(rawValue: 0x02)
    public static let connectionUpdateComplete = LESubeventCode(rawValue: 0x03)
    public static let readRemoteFeaturesComplete = LESubeventCode(rawValue: 0x04)
    public static let longTermKeyRequest = LESubeventCode(rawValue: 0x05)
    public static let remoteConnectionParameterRequest = LESubeventCode(rawValue: 0x06)
    public static let dataLengthChange = LESubeventCode(rawValue: 0x07)
    public static let readLocalP256PublicKeyComplete = LESubeventCode(rawValue: 0x08)
    public static let generateDHKeyComplete = LESubeventCode(rawValue: 0x09)
    public static let enhancedConnectionComplete = LESubeventCode(rawValue: 0x0A)
    public static let directedAdvertisingReport = LESubeventCode(rawValue: 0x0B)
    public static let phyUpdateComplete = LESubeventCode(rawValue: 0x0C)
    public static let extendedAdvertisingReport = LESubeventCode(rawValue: 0x0D)
    public static let periodicAdvertisingSyncEstablished = LESubeventCode(rawValue: 0x0E)
    public static let periodicAdvertisingReport = LESubeventCode(rawValue: 0x0F)
    public static let periodicAdvertisingSyncLost = LESubeventCode(rawValue: 0x10)
    public static let scanTimeout = LESubeventCode(rawValue: 0x11)
    public static let advertisingSetTerminated = LESubeventCode(rawValue: 0x12)
    public static let scanRequestReceived = LESubeventCode(rawValue: 0x13)
    public static let channelSelectionAlgorithm = LESubeventCode(rawValue: 0x14)
    public static let periodicAdvertisingSyncTransferReceived = LESubeventCode(rawValue: 0x18)
    public static let requestPeerSCAComplete = LESubeventCode(rawValue: 0x1F)
    public static let pathLossThreshold = LESubeventCode(rawValue: 0x20)
    public static let transmitPowerReporting = LESubeventCode(rawValue: 0x21)
    public static let subrateChange = LESubeventCode(rawValue: 0x23)
    public static let enhancedConnectionCompleteV2 = LESubeventCode(rawValue: 0x29)
}
