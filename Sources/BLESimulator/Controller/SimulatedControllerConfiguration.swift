import BLEPackets

/// The identity and the capabilities of a simulated controller.
public struct SimulatedControllerConfiguration: Hashable, Sendable {
    /// The public address; `nil` for a controller without one: Read BD_ADDR then returns zeros.
    public var publicAddress: DeviceAddress?
    /// The HCI and link layer version in Read Local Version Information.
    public var version: HCIVersion
    /// The manufacturer; by default the number for internal use and tests.
    public var manufacturer: CompanyIdentifier
    /// The link layer subversion, and the HCI revision unless `hciRevision` has another.
    public var subversion: UInt16
    /// The HCI revision; `nil` if it equals `subversion`, as with a real CSR.
    public var hciRevision: UInt16?
    /// The features in LE Read Local Supported Features; commands of missing features are unknown.
    public var features: LEFeatures
    /// The states in LE Read Supported States; other states are refused with 0x0C (Core 5.4, Vol 4, Part E, 7.8.27).
    public var supportedStates: UInt64
    /// Commands that are answered with Unknown HCI Command; their bits in Supported Commands are cleared.
    public var unservedCommands: [HCIOpcode]
    /// Commands that are answered with Unknown HCI Command although their bits are set.
    public var falselyClaimedCommands: [HCIOpcode]
    /// The whole answer of Read Local Supported Commands; `nil` for the one that follows from the features.
    public var claimedCommands: SupportedCommands?
    /// The LMP features in Read Local Supported Features: bit 38 is LE, bit 37 is no BR/EDR (Core 5.4, Vol 2, Part C,
    /// 3.3).
    public var linkManagerFeatures: UInt64 = 0x60 << 32
    /// Whether it has LE at all; otherwise every command of LE is unknown.
    public var hasLowEnergy = true
    /// Commands beyond those that are simulated, each with what it returns: those of BR/EDR, those of a vendor.
    public var fixedAnswers: [FixedAnswer] = []
    /// The mask of LE events after a reset; the specification requires 0x1F (Core 5.4, Vol 4, Part E, 7.8.1).
    public var leEventMaskAfterReset = LEEventMask.afterReset

    /// The number of commands that the host may send without an answer (Num_HCI_Command_Packets).
    public var commandCredits: UInt8
    /// The maximum octets of data in one ACL packet from the host.
    public var aclDataLength: UInt16
    /// The number of ACL packets that the controller buffers.
    public var aclDataCount: UInt8
    /// The octets in one packet that it reports; `nil` for the true `aclDataLength`.
    public var claimedDataLength: UInt16?
    /// The packets that it reports to buffer; `nil` for the true `aclDataCount`. Beyond the true ones, data is lost.
    public var claimedDataCount: UInt16?
    /// Whether LE Read Buffer Size returns zero, and Read Buffer Size has the shared buffers.
    public var sharesBuffers: Bool
    /// The maximum octets of data in one ACL packet to the host; 0xFFFF for whole packets of the link layer.
    public var hostBoundDataLength: UInt16
    /// The maximum number of data packets in each direction of a connection event.
    public var packetsPerConnectionEvent: Int
    /// The maximum number of links; further connections are refused with 0x09.
    public var maximumLinks: Int
    /// The handle of the first link; others get the next free one.
    public var firstConnectionHandle: UInt16
    /// The capacity of the filter accept list.
    public var acceptListSize: UInt8
    /// The capacity of the resolving list; 0 for a controller without privacy.
    public var resolvingListSize: UInt8
    /// The maximum number of extended advertising sets.
    public var advertisingSets: UInt8
    /// The maximum octets in one packet of the link layer, 27 to 251.
    public var maximumDataLength: UInt16
    /// Whether it changes the length of its packets on a link only when the host orders it, whatever the suggested
    /// default is (zephyrproject-rtos/zephyr#26277).
    public var changesDataLengthByCommandOnly = false
    /// The capacity of the duplicate filter; the oldest advertiser is forgotten first.
    public var duplicateFilterSize: Int
    /// Whether an advertisement and its scan response are reported in one event.
    public var packsReports: Bool

    /// Whether stopping a scan or advertising that does not run is refused with 0x0C, as by some controllers.
    public var refusesNeedlessDisable: Bool
    /// Whether legacy and extended commands may be mixed, as with some controllers.
    public var allowsMixedCommands: Bool
    /// Whether unknown commands are answered with Command Complete instead of Command Status.
    public var completesUnknownCommands: Bool
    /// The delay of a packet between controller and host, in microseconds.
    public var latencyMicroseconds: Int64

    public init(
        publicAddress: DeviceAddress? = DeviceAddress(value: 0x00AA_0100_0001, kind: .public),
        version: HCIVersion = .core54, manufacturer: CompanyIdentifier = CompanyIdentifier(rawValue: 0xFFFF),
        subversion: UInt16 = 1, features: LEFeatures = Self.allFeatures,
        supportedStates: UInt64 = 0x0000_03FF_FFFF_FFFF, unservedCommands: [HCIOpcode] = [],
        falselyClaimedCommands: [HCIOpcode] = [], commandCredits: UInt8 = 1, aclDataLength: UInt16 = 251,
        aclDataCount: UInt8 = 8, sharesBuffers: Bool = false, hostBoundDataLength: UInt16 = 0xFFFF,
        packetsPerConnectionEvent: Int = 6, maximumLinks: Int = 8, firstConnectionHandle: UInt16 = 0x0040,
        acceptListSize: UInt8 = 8, resolvingListSize: UInt8 = 8, advertisingSets: UInt8 = 4,
        maximumDataLength: UInt16 = 251, duplicateFilterSize: Int = 128, packsReports: Bool = false,
        refusesNeedlessDisable: Bool = false, allowsMixedCommands: Bool = false,
        completesUnknownCommands: Bool = false, latencyMicroseconds: Int64 = 100
    ) {
        self.publicAddress = publicAddress
        self.version = version
        self.manufacturer = manufacturer
        self.subversion = subversion
        self.features = features
        self.supportedStates = supportedStates
        self.unservedCommands = unservedCommands
        self.falselyClaimedCommands = falselyClaimedCommands
        self.commandCredits = commandCredits
        self.aclDataLength = aclDataLength
        self.aclDataCount = aclDataCount
        self.sharesBuffers = sharesBuffers
        self.hostBoundDataLength = hostBoundDataLength
        self.packetsPerConnectionEvent = packetsPerConnectionEvent
        self.maximumLinks = maximumLinks
        self.firstConnectionHandle = firstConnectionHandle
        self.acceptListSize = acceptListSize
        self.resolvingListSize = resolvingListSize
        self.advertisingSets = advertisingSets
        self.maximumDataLength = maximumDataLength
        self.duplicateFilterSize = duplicateFilterSize
        self.packsReports = packsReports
        self.refusesNeedlessDisable = refusesNeedlessDisable
        self.allowsMixedCommands = allowsMixedCommands
        self.completesUnknownCommands = completesUnknownCommands
        self.latencyMicroseconds = latencyMicroseconds
    }

    /// All features that the simulator implements.
    public static let allFeatures: LEFeatures = [
        .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
        .peripheralInitiatedFeaturesExchange, .ping,
        .dataPacketLengthExtension, .linkLayerPrivacy, .extendedScanningFilterPolicies, .le2MPHY, .leCodedPHY,
        .extendedAdvertising, .periodicAdvertising, .channelSelectionAlgorithm2,
        .periodicAdvertisingSyncTransferSender, .periodicAdvertisingSyncTransferRecipient,
        .powerControlRequest, .powerControlRequestAlternative, .pathLossMonitoring, .periodicAdvertisingADISupport,
        .connectionSubrating, .periodicAdvertisingWithResponsesAdvertiser, .periodicAdvertisingWithResponsesScanner,
    ]

    /// A controller of Core 4.0: 27 octets per packet, four buffers, no extensions.
    public static func core40(
        publicAddress: DeviceAddress? = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
    ) -> Self {
        Self(
            publicAddress: publicAddress, version: .core40, features: .encryption,
            supportedStates: 0x0000_0000_1FFF_FFFF,
            aclDataLength: 27, aclDataCount: 4, maximumLinks: 4, maximumDataLength: 27)
    }

    /// A controller without LE, such as a BCM2045 of Core 2.1.
    public static func withoutLowEnergy(
        publicAddress: DeviceAddress? = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
    ) -> Self {
        var configuration = Self(publicAddress: publicAddress, version: .core21, features: [])
        configuration.hasLowEnergy = false
        configuration.linkManagerFeatures = 0x8379_FF9B_FE8D_FFFF
        configuration.claimedDataLength = 1021
        return configuration
    }

    /// A controller of Core 4.2: longer packets and privacy, legacy advertising.
    public static func core42(
        publicAddress: DeviceAddress? = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
    ) -> Self {
        Self(
            publicAddress: publicAddress, version: .core42,
            features: [
                .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
                .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension, .linkLayerPrivacy,
            ])
    }
}
