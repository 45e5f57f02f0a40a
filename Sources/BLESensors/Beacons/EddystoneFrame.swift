import BLEPackets

/// Google's Eddystone: an address of the web, or an identifier.
public enum EddystoneFrame: Hashable, Sendable {
    /// An address of the web, as `EddystoneURL` abbreviates it; power in dBm at no distance.
    case url(EddystoneURL, power: Int8)
    /// A namespace of 10 octets and an instance of 6; power in dBm at no distance.
    case uid(namespace: [UInt8], instance: [UInt8], power: Int8)

    /// The lengths of the parts of an identifier.
    public static let namespaceByteCount = 10
    public static let instanceByteCount = 6
    /// An ordinary power at no distance: -59 dBm at one metre, and the 41 dB that are lost on it.
    public static let ordinaryPower: Int8 = -18

    private static let service = BluetoothUUID(0xFEAA as UInt16)

    /// Service data, beside which the service is listed.
    public var data: BeaconData {
        let octets: [UInt8] =
            switch self {
            case .url(let url, let power): [0x10, UInt8(bitPattern: power)] + url.octets
            case .uid(let namespace, let instance, let power):
                [0x00, UInt8(bitPattern: power)] + Self.filled(namespace, Self.namespaceByteCount)
                    + Self.filled(instance, Self.instanceByteCount) + [0, 0]
            }
        return BeaconData(.service(0xFEAA), octets, listing: Self.service)
    }

    /// Shorter numbers have zeros before them.
    private static func filled(_ octets: [UInt8], _ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, count - octets.count)) + octets.suffix(count)
    }
}
