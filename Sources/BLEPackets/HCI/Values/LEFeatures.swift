/// The features of a link layer; unnamed bits are kept (Core 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Links can be encrypted.
    public static let encryption = LEFeatures(rawValue: 1 << 0)
    /// Either side can request other connection parameters in the link layer, without L2CAP.
    public static let connectionParametersRequestProcedure = LEFeatures(rawValue: 1 << 1)
    /// A refusal in the Link Layer names what it refuses.
    public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    /// A peripheral can also request the peer's features.
    public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    /// Authentication of an encrypted link can be checked when no data flows (LE Ping).
    public static let ping = LEFeatures(rawValue: 1 << 4)
    /// Packets of a link can carry up to 251 octets in place of 27.
    public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    /// The controller makes and resolves private addresses.
    public static let linkLayerPrivacy = LEFeatures(rawValue: 1 << 6)
    /// The unrestricted values of `ScanningFilterPolicy`.
    public static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    /// Links at 2 Mbit/s.
    public static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    /// Sends with a stable modulation index, which others can receive better.
    public static let stableModulationIndexTransmitter = LEFeatures(rawValue: 1 << 9)
    /// Makes use of senders with a stable modulation index.
    public static let stableModulationIndexReceiver = LEFeatures(rawValue: 1 << 10)
    /// The PHY with error correction, for longer range.
    public static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    /// Advertising sets and longer data, on more channels and PHYs.
    public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    /// Periodic trains, to send or to follow.
    public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    /// The pseudorandom order of channels.
    public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    /// Can send with more than 10 mW (10 dBm).
    public static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    /// A peripheral can request a minimum number of used channels.
    public static let minimumNumberOfUsedChannelsProcedure = LEFeatures(rawValue: 1 << 16)
    /// Can request a tone for direction finding from the peer of a link.
    public static let connectionCTERequest = LEFeatures(rawValue: 1 << 17)
    /// Can send such a tone on a link.
    public static let connectionCTEResponse = LEFeatures(rawValue: 1 << 18)
    /// Can send such a tone in a periodic train.
    public static let connectionlessCTETransmitter = LEFeatures(rawValue: 1 << 19)
    /// Can use such a tone of a periodic train.
    public static let connectionlessCTEReceiver = LEFeatures(rawValue: 1 << 20)
    /// Sends the tone over several antennas in turn (angle of departure).
    public static let antennaSwitchingDuringCTETransmission = LEFeatures(rawValue: 1 << 21)
    /// Receives the tone with several antennas in turn (angle of arrival).
    public static let antennaSwitchingDuringCTEReception = LEFeatures(rawValue: 1 << 22)
    /// Can receive the tone at all.
    public static let receivingConstantToneExtensions = LEFeatures(rawValue: 1 << 23)
    /// Can transfer a periodic train to the peer of a link.
    public static let periodicAdvertisingSyncTransferSender = LEFeatures(rawValue: 1 << 24)
    /// Can synchronize to a periodic train that the peer of a link transfers.
    public static let periodicAdvertisingSyncTransferRecipient = LEFeatures(rawValue: 1 << 25)
    /// Either side can ask for the accuracy of the other's sleep clock.
    public static let sleepClockAccuracyUpdates = LEFeatures(rawValue: 1 << 26)
    /// Checks that a public key of the other side is a point of the curve.
    public static let remotePublicKeyValidation = LEFeatures(rawValue: 1 << 27)
    /// Isochronous streams on a link, as central.
    public static let connectedIsochronousStreamCentral = LEFeatures(rawValue: 1 << 28)
    /// Isochronous streams on a link, as peripheral.
    public static let connectedIsochronousStreamPeripheral = LEFeatures(rawValue: 1 << 29)
    /// Can send isochronous broadcasts.
    public static let isochronousBroadcaster = LEFeatures(rawValue: 1 << 30)
    /// Can receive isochronous broadcasts.
    public static let synchronizedReceiver = LEFeatures(rawValue: 1 << 31)
    /// The host uses isochronous streams on links; the host sets this bit.
    public static let connectedIsochronousStreamHostSupport = LEFeatures(rawValue: 1 << 32)
    /// Can ask the peer to change its transmit power.
    public static let powerControlRequest = LEFeatures(rawValue: 1 << 33)
    /// The same as `powerControlRequest`, which has two bits.
    public static let powerControlRequestAlternative = LEFeatures(rawValue: 1 << 34)
    /// Monitors the path loss.
    public static let pathLossMonitoring = LEFeatures(rawValue: 1 << 35)
    /// Packets of a periodic train can indicate new data.
    public static let periodicAdvertisingADISupport = LEFeatures(rawValue: 1 << 36)
    /// A link can use a share of its connection events only.
    public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
    /// The host supports subrating; the host sets this bit.
    public static let connectionSubratingHostSupport = LEFeatures(rawValue: 1 << 38)
    /// A peripheral can report good and bad channels to the central.
    public static let channelClassification = LEFeatures(rawValue: 1 << 39)
    /// The host can choose between 125 and 500 kbit/s for advertising on LE Coded.
    public static let advertisingCodingSelection = LEFeatures(rawValue: 1 << 40)
    /// The host supports reports with the coding; the host sets this bit.
    public static let advertisingCodingSelectionHostSupport = LEFeatures(rawValue: 1 << 41)
    /// Can send periodic trains with responses.
    public static let periodicAdvertisingWithResponsesAdvertiser = LEFeatures(rawValue: 1 << 43)
    /// Can answer in such a train.
    public static let periodicAdvertisingWithResponsesScanner = LEFeatures(rawValue: 1 << 44)
}
