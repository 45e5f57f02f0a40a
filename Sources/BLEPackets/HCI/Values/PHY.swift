/// The radio's modulation on one link or advertisement (Core 5.4, Vol 4, Part E, 7.8.47).
public struct PHY: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 1 Mbit/s, which every device has.
    public static let le1M = PHY(rawValue: 0x01)
    /// 2 Mbit/s, with a shorter range. Not for primary advertising channels.
    public static let le2M = PHY(rawValue: 0x02)
    /// 125 or 500 kbit/s with error correction; reaches farther.
    public static let leCoded = PHY(rawValue: 0x03)
}
