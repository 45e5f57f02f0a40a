import BLEPackets

/// What the controller said of itself when it was started.
public struct ControllerInformation: Hashable, Sendable {
    /// The public address; `nil` when the controller has none.
    public var publicAddress: DeviceAddress?
    /// The address that is used: public, or the random one of the configuration.
    public var ownAddress: DeviceAddress?
    /// Who this device is to bonded peers: `ownAddress`, unless that is a private one.
    public var identityAddress: DeviceAddress?
    public var hciVersion: UInt8 = 0
    public var hciSubversion: UInt16 = 0
    public var lmpVersion: UInt8 = 0
    public var lmpSubversion: UInt16 = 0
    public var companyIdentifier: UInt16 = 0
    public var features: LEFeatures = []
    /// The 64 octets of supported commands, which controllers are known to overstate.
    public var supportedCommands: [UInt8] = []
    /// LE Supported States; zero when the controller does not tell.
    public var supportedStates: UInt64 = 0
    /// Octets of an ACL packet's data, and how many packets the controller buffers.
    public var aclDataLength: UInt16 = 27
    public var aclDataCount: UInt16 = 1
    public var filterAcceptListSize: UInt8 = 0
    public var resolvingListSize: UInt8 = 0
    public var maximumTransmitOctets: UInt16 = 27
    public var maximumTransmitMicroseconds: UInt16 = 328

    public init() {}

    /// Whether the extended commands for scanning, initiating and advertising are used; a controller takes either these or
    /// the legacy ones, never both (Core 5.4, Vol 4, Part E, 3.1.1).
    public var usesExtendedCommands: Bool { features.contains(.extendedAdvertising) }

    /// Whether the controller says that it scans while it initiates (LE Supported States, bits 22 and 23).
    var canInitiateWhileScanning: Bool { supportedStates == 0 || supportedStates >> 22 & 0b11 == 0b11 }
}
