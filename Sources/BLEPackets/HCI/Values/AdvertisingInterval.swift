/// Time between two legacy advertising events, in units of 0.625 ms: 20 ms to 10.24 s
/// (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingInterval: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Rounds to the nearest unit and clamps to the valid range.
    @inlinable
    public static func milliseconds(_ milliseconds: Double) -> Self {
        Self(rawValue: UInt16(roundingUnits: milliseconds * 1000 / 625))
    }

    @inlinable public var microseconds: Int { Int(rawValue) * 625 }
    @inlinable public var milliseconds: Double { Double(microseconds) / 1000 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// 20 ms.
    public static let least = AdvertisingInterval(rawValue: 0x0020)
    /// 10.24 s.
    public static let greatest = AdvertisingInterval(rawValue: 0x4000)
}
