import BLEPackets

/// Apple's iBeacon: the region, two numbers in it, and the signal at one metre.
public struct IBeaconFrame: Hashable, Sendable {
    /// The region that apps look for.
    public var uuid: BluetoothUUID
    public var major: UInt16
    public var minor: UInt16
    /// The signal that a receiver measures at one metre, in dBm.
    public var power: Int8

    /// - Parameter power: measured at one metre, in dBm; most beacons send about -59.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, power: Int8 = -59) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.power = power
    }

    /// Manufacturer data of Apple.
    public var data: BeaconData {
        BeaconData(
            .company(0x004C),
            [0x02, 0x15] + uuid.bytes + [major, minor].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
                + [UInt8(bitPattern: power)])
    }
}
