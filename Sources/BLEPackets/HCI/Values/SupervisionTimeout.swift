/// How long a link may be silent before it counts as lost, in units of 10 ms: 100 ms to 32 s
/// (Core 5.4, Vol 6, Part B, 4.5.2).
public struct SupervisionTimeout: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Rounds to the nearest unit and clamps to the valid range.
    @inlinable
    public static func milliseconds(_ milliseconds: Double) -> Self {
        Self(rawValue: UInt16(roundingUnits: milliseconds * 1000 / 10_000))
    }

    @inlinable public var microseconds: Int { Int(rawValue) * 10_000 }
    @inlinable public var milliseconds: Double { Double(microseconds) / 1000 }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// 100 ms.
    public static let least = SupervisionTimeout(rawValue: 0x000A)
    /// 32 s.
    public static let greatest = SupervisionTimeout(rawValue: 0x0C80)
}
