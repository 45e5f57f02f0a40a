import BLEPackets

/// What a simulated controller is and can do.
public struct SimulatedControllerConfiguration: Hashable, Sendable {
    /// `nil` for a controller that was given no public address: Read BD_ADDR then answers all zero.
    public var publicAddress: DeviceAddress?
    /// What Read Local Version Information answers, for the HCI and the link layer.
    public var version: HCIVersion
    /// By default the number for internal use and tests.
    public var manufacturer: CompanyIdentifier
    /// The revision of both.
    public var subversion: UInt16
    /// What LE Read Local Supported Features answers; commands of features that are missing are unknown.
    public var features: LEFeatures
    /// What LE Read Supported States answers; states that are not in it are refused with 0x0C
    /// (Core 5.4, Vol 4, Part E, 7.8.27).
    public var supportedStates: UInt64
    /// Commands that are answered with Unknown HCI Command, their bits cleared.
    public var unservedCommands: [HCIOpcode]
    /// Commands whose bits are set although they are answered with Unknown HCI Command.
    public var falselyClaimedCommands: [HCIOpcode]

    /// Commands that the host may send ahead (Num_HCI_Command_Packets).
    public var commandCredits: UInt8
    /// Octets of data in one ACL packet from the host.
    public var aclDataLength: UInt16
    /// ACL packets that the controller holds at once.
    public var aclDataCount: UInt8
    /// LE Read Buffer Size answers zero and Read Buffer Size tells of the buffers.
    public var sharesBuffers: Bool
    /// Octets of data in one ACL packet to the host; 0xFFFF for whole packets of the link layer.
    public var hostBoundDataLength: UInt16
    /// Data packets that go each way in one connection event at most.
    public var packetsPerConnectionEvent: Int
    /// Links at one time; beyond that a connection is refused with 0x09.
    public var maximumLinks: Int
    /// The handle of the first link; others get the next that is free.
    public var firstConnectionHandle: UInt16
    /// Devices that the filter accept list holds.
    public var acceptListSize: UInt8
    /// Devices that the resolving list holds; 0 without privacy in the controller.
    public var resolvingListSize: UInt8
    /// Extended advertising sets at one time.
    public var advertisingSets: UInt8
    /// Octets that one packet of the link layer can hold, 27 to 251.
    public var maximumDataLength: UInt16
    /// Advertisers that the duplicate filter remembers; the eldest is forgotten first.
    public var duplicateFilterSize: Int
    /// An advertisement and its scan response come in one event.
    public var packsReports: Bool

    /// Stopping what does not run, scanning or advertising, is refused with 0x0C, as some controllers do.
    public var refusesNeedlessDisable: Bool
    /// Legacy and extended commands may be mixed, as some controllers allow.
    public var allowsMixedCommands: Bool
    /// Unknown commands are answered by Command Complete instead of Command Status.
    public var completesUnknownCommands: Bool
    /// From a packet at the controller to one at the host, in microseconds.
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

    /// Everything that the simulator plays.
    public static let allFeatures: LEFeatures = [
        .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
        .peripheralInitiatedFeaturesExchange, .ping,
        .dataPacketLengthExtension, .linkLayerPrivacy, .extendedScanningFilterPolicies, .le2MPHY, .leCodedPHY,
        .extendedAdvertising, .channelSelectionAlgorithm2,
    ]

    /// A controller of Core 4.0: 27 octets in a packet, four buffers, no extension.
    public static func core40(
        publicAddress: DeviceAddress? = DeviceAddress(value: 0x00AA_0100_0001, kind: .public)
    ) -> Self {
        Self(
            publicAddress: publicAddress, version: .core40, features: .encryption,
            supportedStates: 0x0000_0000_1FFF_FFFF,
            aclDataLength: 27, aclDataCount: 4, maximumLinks: 4, maximumDataLength: 27)
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
