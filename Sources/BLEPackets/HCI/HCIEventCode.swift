/// The code of an event (Core 5.4, Vol 4, Part E, 7.7).
public struct HCIEventCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A link ended.
    public static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
    /// A link is encrypted now, or no longer, or could not be.
    public static let encryptionChange = HCIEventCode(rawValue: 0x08)
    /// Maker and version of the other side's controller.
    public static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0C)
    /// A command is done; its results.
    public static let commandComplete = HCIEventCode(rawValue: 0x0E)
    /// A command has begun, or was refused; its end comes as another event.
    public static let commandStatus = HCIEventCode(rawValue: 0x0F)
    /// The controller's hardware failed; only a reset may help.
    public static let hardwareError = HCIEventCode(rawValue: 0x10)
    /// Buffers of the controller are free again: the host may send so many more.
    public static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
    /// The host sent more than the controller has room for.
    public static let dataBufferOverflow = HCIEventCode(rawValue: 0x1A)
    /// An encrypted link goes on with a new key.
    public static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
    /// Every event of LE; its first parameter is an `LESubeventCode`.
    public static let leMeta = HCIEventCode(rawValue: 0x3E)
    /// No packet of an encrypted link was authenticated for the time that was set.
    public static let authenticatedPayloadTimeoutExpired = HCIEventCode(rawValue: 0x57)
    /// Like `encryptionChange`, and says how long the key is.
    public static let encryptionChangeV2 = HCIEventCode(rawValue: 0x59)
    /// What the maker of the controller made of it.
    public static let vendorSpecific = HCIEventCode(rawValue: 0xFF)
}

/// The subevent of an LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).
public struct LESubeventCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is a link, or it could not be made.
    public static let connectionComplete = LESubeventCode(rawValue: 0x01)
    /// Legacy advertisements and scan responses that were heard.
    public static let advertisingReport = LESubeventCode(rawValue: 0x02)
    /// A link has other connection parameters, or kept the old ones.
    public static let connectionUpdateComplete = LESubeventCode(rawValue: 0x03)
    /// What the other side's Link Layer can do.
    public static let readRemoteFeaturesComplete = LESubeventCode(rawValue: 0x04)
    /// The controller of a peripheral asks for the key: the central wants to encrypt.
    public static let longTermKeyRequest = LESubeventCode(rawValue: 0x05)
    /// The other side asks for other connection parameters.
    public static let remoteConnectionParameterRequest = LESubeventCode(rawValue: 0x06)
    /// Packets of a link may be longer or shorter than before.
    public static let dataLengthChange = LESubeventCode(rawValue: 0x07)
    /// The public key that the controller made.
    public static let readLocalP256PublicKeyComplete = LESubeventCode(rawValue: 0x08)
    /// The shared secret that the controller worked out.
    public static let generateDHKeyComplete = LESubeventCode(rawValue: 0x09)
    /// Like `connectionComplete`, and tells the resolvable addresses that were used.
    public static let enhancedConnectionComplete = LESubeventCode(rawValue: 0x0A)
    /// An advertisement directed to a resolvable address that the controller could not resolve.
    public static let directedAdvertisingReport = LESubeventCode(rawValue: 0x0B)
    /// A link runs on other PHYs, or does not, though that was asked for.
    public static let phyUpdateComplete = LESubeventCode(rawValue: 0x0C)
    /// Extended and legacy advertisements and scan responses that were heard.
    public static let extendedAdvertisingReport = LESubeventCode(rawValue: 0x0D)
    /// The controller follows a periodic train, or could not find it.
    public static let periodicAdvertisingSyncEstablished = LESubeventCode(rawValue: 0x0E)
    /// Data of a periodic train that was heard.
    public static let periodicAdvertisingReport = LESubeventCode(rawValue: 0x0F)
    /// A periodic train was not heard for its timeout and is no longer followed.
    public static let periodicAdvertisingSyncLost = LESubeventCode(rawValue: 0x10)
    /// Scanning ended after the time that was set.
    public static let scanTimeout = LESubeventCode(rawValue: 0x11)
    /// A set stopped advertising: a link came of it, or its time or its events are used up.
    public static let advertisingSetTerminated = LESubeventCode(rawValue: 0x12)
    /// Somebody asked an advertising set for its scan response.
    public static let scanRequestReceived = LESubeventCode(rawValue: 0x13)
    /// How a new link chooses its channels.
    public static let channelSelectionAlgorithm = LESubeventCode(rawValue: 0x14)
    /// The other side of a link told of a periodic train, and the controller follows it or could not find it.
    public static let periodicAdvertisingSyncTransferReceived = LESubeventCode(rawValue: 0x18)
    /// How exact the other side's sleep clock is.
    public static let requestPeerSCAComplete = LESubeventCode(rawValue: 0x1F)
    /// The loss on the way to the other side passed a limit that was set.
    public static let pathLossThreshold = LESubeventCode(rawValue: 0x20)
    /// The power of one side of a link changed, or was asked for.
    public static let transmitPowerReporting = LESubeventCode(rawValue: 0x21)
    /// Another share of its connection events is used by a link.
    public static let subrateChange = LESubeventCode(rawValue: 0x23)
    /// Like `enhancedConnectionComplete`, and names the set or train that the link came of.
    public static let enhancedConnectionCompleteV2 = LESubeventCode(rawValue: 0x29)
}
