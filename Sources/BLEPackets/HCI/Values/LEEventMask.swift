/// The LE subevents that the controller may send: bit n is subevent n + 1 (Core 5.4, Vol 4, Part E, 7.8.1).
public struct LEEventMask: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The mask after a reset: the five subevents of Bluetooth 4.0.
    public static let afterReset = LEEventMask(rawValue: 0x1F)

    /// Lets `LEConnectionComplete` come.
    public static let connectionComplete = LEEventMask(rawValue: 1 << 0)
    /// Lets `LEAdvertisingReport` come.
    public static let advertisingReport = LEEventMask(rawValue: 1 << 1)
    /// Lets `LEConnectionUpdateComplete` come.
    public static let connectionUpdateComplete = LEEventMask(rawValue: 1 << 2)
    /// Lets `LEReadRemoteFeaturesComplete` come.
    public static let readRemoteFeaturesComplete = LEEventMask(rawValue: 1 << 3)
    /// Lets `LELongTermKeyRequest` come.
    public static let longTermKeyRequest = LEEventMask(rawValue: 1 << 4)
    /// Lets `LERemoteConnectionParameterRequest` come.
    public static let remoteConnectionParameterRequest = LEEventMask(rawValue: 1 << 5)
    /// Lets `LEDataLengthChange` come.
    public static let dataLengthChange = LEEventMask(rawValue: 1 << 6)
    /// Lets `LEReadLocalP256PublicKeyComplete` come.
    public static let readLocalP256PublicKeyComplete = LEEventMask(rawValue: 1 << 7)
    /// Lets `LEGenerateDHKeyComplete` come.
    public static let generateDHKeyComplete = LEEventMask(rawValue: 1 << 8)
    /// Lets `LEEnhancedConnectionComplete` come.
    public static let enhancedConnectionComplete = LEEventMask(rawValue: 1 << 9)
    /// Lets `LEDirectedAdvertisingReport` come.
    public static let directedAdvertisingReport = LEEventMask(rawValue: 1 << 10)
    /// Lets `LEPHYUpdateComplete` come.
    public static let phyUpdateComplete = LEEventMask(rawValue: 1 << 11)
    /// Lets `LEExtendedAdvertisingReport` come.
    public static let extendedAdvertisingReport = LEEventMask(rawValue: 1 << 12)
    /// Lets `LEPeriodicAdvertisingSyncEstablished` come.
    public static let periodicAdvertisingSyncEstablished = LEEventMask(rawValue: 1 << 13)
    /// Lets `LEPeriodicAdvertisingReport` come.
    public static let periodicAdvertisingReport = LEEventMask(rawValue: 1 << 14)
    /// Lets `LEPeriodicAdvertisingSyncLost` come.
    public static let periodicAdvertisingSyncLost = LEEventMask(rawValue: 1 << 15)
    /// Lets `LEScanTimeout` come.
    public static let scanTimeout = LEEventMask(rawValue: 1 << 16)
    /// Lets `LEAdvertisingSetTerminated` come.
    public static let advertisingSetTerminated = LEEventMask(rawValue: 1 << 17)
    /// Lets `LEScanRequestReceived` come.
    public static let scanRequestReceived = LEEventMask(rawValue: 1 << 18)
    /// Lets `LEChannelSelectionAlgorithm` come.
    public static let channelSelectionAlgorithm = LEEventMask(rawValue: 1 << 19)
    /// Samples of the tone in a periodic train, to find its direction by; this stack has no use for them.
    public static let connectionlessIQReport = LEEventMask(rawValue: 1 << 20)
    /// Samples of the tone on a link, to find its direction by; this stack has no use for them.
    public static let connectionIQReport = LEEventMask(rawValue: 1 << 21)
    /// The peer did not send a requested tone; this stack requests none.
    public static let cteRequestFailed = LEEventMask(rawValue: 1 << 22)
    /// Lets `LEPeriodicAdvertisingSyncTransferReceived` come.
    public static let periodicAdvertisingSyncTransferReceived = LEEventMask(rawValue: 1 << 23)
    /// An isochronous stream on a link was made, or the attempt failed; this stack has none.
    public static let cisEstablished = LEEventMask(rawValue: 1 << 24)
    /// The central requests an isochronous stream on a link; this stack has none.
    public static let cisRequest = LEEventMask(rawValue: 1 << 25)
    /// An isochronous broadcast runs, or could not be made; this stack has none.
    public static let createBIGComplete = LEEventMask(rawValue: 1 << 26)
    /// An isochronous broadcast ended; this stack has none.
    public static let terminateBIGComplete = LEEventMask(rawValue: 1 << 27)
    /// An isochronous broadcast is followed, or was not found; this stack follows none.
    public static let bigSyncEstablished = LEEventMask(rawValue: 1 << 28)
    /// An isochronous broadcast was lost; this stack receives none.
    public static let bigSyncLost = LEEventMask(rawValue: 1 << 29)
    /// Lets `LERequestPeerSCAComplete` come.
    public static let requestPeerSCAComplete = LEEventMask(rawValue: 1 << 30)
    /// Lets `LEPathLossThreshold` come.
    public static let pathLossThreshold = LEEventMask(rawValue: 1 << 31)
    /// Lets `LETransmitPowerReporting` come.
    public static let transmitPowerReporting = LEEventMask(rawValue: 1 << 32)
    /// A periodic train announces an isochronous broadcast.
    public static let bigInfoAdvertisingReport = LEEventMask(rawValue: 1 << 33)
    /// Lets `LESubrateChange` come.
    public static let subrateChange = LEEventMask(rawValue: 1 << 34)
    /// The second version of `LEPeriodicAdvertisingSyncEstablished`, for trains with responses.
    public static let periodicAdvertisingSyncEstablishedV2 = LEEventMask(rawValue: 1 << 35)
    /// The second version of `LEPeriodicAdvertisingReport`, for trains with responses.
    public static let periodicAdvertisingReportV2 = LEEventMask(rawValue: 1 << 36)
    /// The second version of `LEPeriodicAdvertisingSyncTransferReceived`, for trains with responses.
    public static let periodicAdvertisingSyncTransferReceivedV2 = LEEventMask(rawValue: 1 << 37)
    /// The controller requests data for a train with responses.
    public static let periodicAdvertisingSubeventDataRequest = LEEventMask(rawValue: 1 << 38)
    /// The responses to a train.
    public static let periodicAdvertisingResponseReport = LEEventMask(rawValue: 1 << 39)
    /// Lets `LEEnhancedConnectionCompleteV2` come.
    public static let enhancedConnectionCompleteV2 = LEEventMask(rawValue: 1 << 40)
}
