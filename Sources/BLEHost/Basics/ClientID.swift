/// Identifies the client that submitted an operation: clients share links, subscriptions and scans, and each has its
/// own (SPEC 5.5).
public struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The only client of a process that does not share its engine.
    public static let local = ClientID(rawValue: 0)

    /// The engine itself, as the owner of the channels that carry enhanced attribute bearers.
    static let attributeBearers = ClientID(rawValue: .max)

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
