/// Time from the start of one scan to the next, or the length of one scan (its window), in units of 0.625 ms, 2.5 ms at
/// least
/// (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanInterval: RawRepresentable, Hashable, Comparable, Sendable {
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
}
