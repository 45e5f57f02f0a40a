import BLEPackets

/// What the controller reported about itself when it was started.
public struct ControllerInformation: Hashable, Sendable {
    /// The public address; `nil` if the controller has none.
    public var publicAddress: DeviceAddress?
    /// The address of this device on the air; `nil` while there is none.
    public var ownAddress: DeviceAddress?
    /// The identity address that bonded peers know: `ownAddress`, unless that is a private address.
    public var identityAddress: DeviceAddress?
    /// The version of its HCI (Assigned Numbers, 2.1): 6 is 4.0, 9 is 5.0, 13 is 5.4.
    public var hciVersion: UInt8 = 0
    /// The manufacturer's revision of its HCI.
    public var hciSubversion: UInt16 = 0
    /// The version of its link layer (Assigned Numbers, 2.1).
    public var lmpVersion: UInt8 = 0
    /// The manufacturer's revision of its link layer.
    public var lmpSubversion: UInt16 = 0
    /// The manufacturer (Assigned Numbers, 7.1).
    public var companyIdentifier: UInt16 = 0
    /// The features of its link layer (Core 5.4, Vol 6, Part B, 4.6).
    public var features: LEFeatures = []
    /// The 64 octets of Supported Commands; some controllers list commands that they do not support.
    public var supportedCommands: [UInt8] = []
    /// LE Supported States; 0 if the controller does not report them.
    public var supportedStates: UInt64 = 0
    /// The maximum number of data octets in an ACL packet.
    public var aclDataLength: UInt16 = 27
    /// How many ACL packets the controller buffers.
    public var aclDataCount: UInt16 = 1
    /// The capacity of the filter accept list in devices; 0 if the controller does not report it.
    public var filterAcceptListSize: UInt8 = 0
    /// The capacity of the resolving list in devices; 0 if the controller resolves no addresses.
    public var resolvingListSize: UInt8 = 0
    /// Payload octets of the longest packet that the controller can send, 27 to 251.
    public var maximumTransmitOctets: UInt16 = 27
    /// The longest time on the air of a packet, 328 to 17040 µs.
    public var maximumTransmitMicroseconds: UInt16 = 328
    /// The family that the controller belongs to; `nil` if it is none that is known.
    public var family: ControllerFamily?
    /// How it deviates from the specification, as far as it is known.
    public var traits: ControllerTraits = []

    /// The values for a controller that has not answered yet.
    public init() {}

    /// Whether the extended commands for scanning, initiating and advertising are used; a controller takes either these
    /// or the legacy ones, never both (Core 5.4, Vol 4, Part E, 3.1.1).
    public var usesExtendedCommands: Bool {
        features.contains(.extendedAdvertising)
            && traits.isDisjoint(with: [.usesLegacyCommandsOnly, .knowsOldEventMaskOnly])
    }

    /// Whether the controller reports that it can initiate while it scans (LE Supported States, bits 22 and 23); also
    /// `true` if it reports no states.
    var canInitiateWhileScanning: Bool { supportedStates == 0 || supportedStates >> 22 & 0b11 == 0b11 }
}
