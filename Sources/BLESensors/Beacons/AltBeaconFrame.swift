import BLEPackets

/// AltBeacon, the open form of a beacon (altbeacon.org): 20 octets that identify it, and the signal at one metre.
public struct AltBeaconFrame: Hashable, Sendable {
    /// The identifier's length.
    public static let identifierByteCount = 20

    /// The maker of the beacon.
    public var company: UInt16
    /// 20 octets; of most beacons a UUID and two numbers.
    public let identifier: [UInt8]
    /// The signal that a receiver measures at one metre, in dBm.
    public var power: Int8
    /// An octet of the maker's own.
    public var reserved: UInt8

    /// - Parameters:
    ///   - company: Radius Networks by default, as most beacons have it.
    ///   - identifier: other octets than 20 are cut off, or filled up with zeros.
    ///   - power: measured at one metre, in dBm; most beacons send about -59.
    public init(company: UInt16 = 0x0118, identifier: [UInt8], power: Int8 = -59, reserved: UInt8 = 0) {
        self.company = company
        let octets = identifier.prefix(Self.identifierByteCount)
        self.identifier = octets + [UInt8](repeating: 0, count: Self.identifierByteCount - octets.count)
        self.power = power
        self.reserved = reserved
    }

    /// A beacon with a UUID and two numbers, like an iBeacon.
    public init(
        company: UInt16 = 0x0118, uuid: BluetoothUUID, major: UInt16, minor: UInt16, power: Int8 = -59,
        reserved: UInt8 = 0
    ) {
        self.init(
            company: company,
            identifier: uuid.bytes + [major, minor].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
            power: power, reserved: reserved)
    }

    /// Manufacturer data of its maker.
    public var data: BeaconData {
        BeaconData(.company(company), [0xBE, 0xAC] + identifier + [UInt8(bitPattern: power), reserved])
    }
}
