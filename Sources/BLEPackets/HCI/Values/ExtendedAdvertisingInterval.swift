/// Time between two extended advertising events, in units of 0.625 ms: 20 ms to 10,485.759 s
/// (Core 5.4, Vol 4, Part E, 7.8.53).
public struct ExtendedAdvertisingInterval: RawRepresentable, Hashable, Comparable, Sendable {
    /// 24 bits; higher bits are not sent.
    public var rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The same time in the wider field.
    @inlinable public init(_ interval: AdvertisingInterval) { rawValue = UInt32(interval.rawValue) }

    /// Rounds to the nearest unit and clamps to the valid range.
    @inlinable
    public static func milliseconds(_ milliseconds: Double) -> Self {
        let units = milliseconds * 1000 / 625 + 0.5
        guard units >= 1 else { return Self(rawValue: 0) }
        return Self(rawValue: units < 0x100_0000 ? UInt32(units) : 0xFF_FFFF)
    }

    @inlinable public var microseconds: Int { Int(rawValue) * 625 }
    @inlinable public var milliseconds: Double { Double(microseconds) / 1000 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
