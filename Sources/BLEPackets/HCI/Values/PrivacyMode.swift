/// Whether a peer of the resolving list may use its identity address (Core 5.4, Vol 4, Part E, 7.8.77).
public struct PrivacyMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Only resolvable private addresses are accepted.
    public static let network = PrivacyMode(rawValue: 0x00)
    /// The identity address is accepted, too.
    public static let device = PrivacyMode(rawValue: 0x01)
}
