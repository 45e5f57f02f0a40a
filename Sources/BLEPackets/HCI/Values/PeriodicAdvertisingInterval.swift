/// Time between two periodic advertising events, in units of 1.25 ms: 7.5 ms to 81.92 s
/// (Core 5.4, Vol 4, Part E, 7.8.61).
public struct PeriodicAdvertisingInterval: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Rounds to the nearest unit and clamps to the valid range.
    @inlinable
    public static func milliseconds(_ milliseconds: Double) -> Self {
        Self(rawValue: UInt16(roundingUnits: milliseconds * 1000 / 1_250))
    }

    @inlinable public var microseconds: Int { Int(rawValue) * 1_250 }
    @inlinable public var milliseconds: Double { Double(microseconds) / 1000 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
