/// Who submitted an operation: links, subscriptions and scans are shared by clients and held for each (SPEC 5.5).
public struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The one client of a process that shares its engine with no other.
    public static let local = ClientID(rawValue: 0)

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

#if !hasFeature(Embedded)
extension ClientID: Codable {}
#endif
