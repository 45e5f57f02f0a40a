import BLEPackets

/// What the controller said of itself when it was started.
public struct ControllerInformation: Hashable, Sendable {
    /// The public address; `nil` when the controller has none.
    public var publicAddress: DeviceAddress?
    /// The address that is used: public, or the random one of the configuration.
    public var ownAddress: DeviceAddress?
    /// Who this device is to bonded peers: `ownAddress`, unless that is a private one.
    public var identityAddress: DeviceAddress?
    /// The version of its HCI (Assigned Numbers, 2.1): 6 is 4.0, 9 is 5.0, 13 is 5.4.
    public var hciVersion: UInt8 = 0
    /// The maker's own revision of its HCI.
    public var hciSubversion: UInt16 = 0
    /// The version of its link layer (Assigned Numbers, 2.1).
    public var lmpVersion: UInt8 = 0
    /// The maker's own revision of its link layer.
    public var lmpSubversion: UInt16 = 0
    /// The manufacturer (Assigned Numbers, 7.1).
    public var companyIdentifier: UInt16 = 0
    /// What its link layer can do (Core 5.4, Vol 6, Part B, 4.6).
    public var features: LEFeatures = []
    /// The 64 octets of supported commands, some controllers list too many.
    public var supportedCommands: [UInt8] = []
    /// LE Supported States; zero when the controller does not tell.
    public var supportedStates: UInt64 = 0
    /// Octets of an ACL packet's data, and how many packets the controller buffers.
    public var aclDataLength: UInt16 = 27
    /// How many ACL packets the controller buffers.
    public var aclDataCount: UInt16 = 1
    /// Devices that the filter accept list holds; 0 when the controller does not tell.
    public var filterAcceptListSize: UInt8 = 0
    /// Devices that the resolving list holds; 0 where the controller resolves no addresses.
    public var resolvingListSize: UInt8 = 0
    /// Octets of the longest packet on the air, 27 to 251.
    public var maximumTransmitOctets: UInt16 = 27
    /// How long it may take on the air, 328 to 17040 µs.
    public var maximumTransmitMicroseconds: UInt16 = 328

    /// Of a controller that has said nothing yet.
    public init() {}

    /// Whether the extended commands for scanning, initiating and advertising are used; a controller takes either these
    /// or the legacy ones, never both (Core 5.4, Vol 4, Part E, 3.1.1).
    public var usesExtendedCommands: Bool { features.contains(.extendedAdvertising) }

    /// Whether the controller says that it scans while it initiates (LE Supported States, bits 22 and 23).
    var canInitiateWhileScanning: Bool { supportedStates == 0 || supportedStates >> 22 & 0b11 == 0b11 }
}
