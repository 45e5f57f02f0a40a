import BLEPackets

/// What the user wants of a chip.
public struct ChipSettings: Hashable, Sendable {
    public var family: ChipFamily
    /// The speed at which the chip works once it is started; it starts with `bootBaud`.
    public var baud: UInt32
    /// Written to a chip of a family that can take one; `nil`: it keeps its own.
    public var address: DeviceAddress?

    /// The speed of chips after power-on.
    public static let bootBaud: UInt32 = 115_200

    public init(family: ChipFamily, baud: UInt32 = bootBaud, address: DeviceAddress? = nil) {
        self.family = family
        self.baud = baud
        self.address = address
    }
}

/// What became known of a chip while it was started.
public struct ChipInformation: Hashable, Sendable {
    public internal(set) var family: ChipFamily?
    /// The chip's name, such as `BCM43430A1` or `rtl8723ds`.
    public internal(set) var name: String?
    public internal(set) var manufacturer: UInt16 = 0
    public internal(set) var hciVersion: UInt8 = 0
    public internal(set) var hciRevision: UInt16 = 0
    public internal(set) var lmpSubversion: UInt16 = 0
    /// The file whose firmware the chip has got.
    public internal(set) var firmware: String?
    /// Files that would have firmware for the chip, none of which is there; it works with what it has.
    public internal(set) var missingFirmware: [String] = []
    /// The public address is one that the maker gives to every chip.
    public internal(set) var hasDefaultAddress = false
    /// The static address that the maker has given to the chip.
    public internal(set) var staticAddress: DeviceAddress?

    public init() {}
}

/// A file of firmware.
public struct ChipFile: Hashable, Sendable {
    /// Its name below a folder of firmware.
    public var name: String
    public var octets: [UInt8]

    public init(name: String, octets: [UInt8]) {
        self.name = name
        self.octets = octets
    }
}
