/// Time between the starts of two connection events, in units of 1.25 ms: 7.5 ms to 4 s
/// (Core 5.4, Vol 6, Part B, 4.5.1).
public struct ConnectionInterval: RawRepresentable, Hashable, Comparable, Sendable {
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

    /// 7.5 ms.
    public static let least = ConnectionInterval(rawValue: 0x0006)
    /// 4 s.
    public static let greatest = ConnectionInterval(rawValue: 0x0C80)
}
