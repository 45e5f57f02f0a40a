/// A choice of PHYs (Core 5.4, Vol 4, Part E, 7.8.48).
public struct PHYSet: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 1 Mbit/s.
    public static let le1M = PHYSet(rawValue: 1 << 0)
    /// 2 Mbit/s.
    public static let le2M = PHYSet(rawValue: 1 << 1)
    /// 125 or 500 kbit/s with error correction.
    public static let leCoded = PHYSet(rawValue: 1 << 2)
}
