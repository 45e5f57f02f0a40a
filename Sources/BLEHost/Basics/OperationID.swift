/// Identifies a submitted operation; the engine uses each number once.
public struct OperationID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
