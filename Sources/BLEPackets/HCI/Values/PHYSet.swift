/// A choice of PHYs (Core 5.4, Vol 4, Part E, 7.8.48).
public struct PHYSet: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let le1M = PHYSet(rawValue: 1 << 0)
    public static let le2M = PHYSet(rawValue: 1 << 1)
    public static let leCoded = PHYSet(rawValue: 1 << 2)
}
