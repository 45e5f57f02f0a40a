/// The preferred coding of a link on LE Coded (Core 5.4, Vol 4, Part E, 7.8.49).
public struct PHYOptions: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The controller chooses.
    public static let noPreference = PHYOptions(rawValue: 0x00)
    /// 500 kbit/s if possible.
    public static let preferS2 = PHYOptions(rawValue: 0x01)
    /// 125 kbit/s if possible.
    public static let preferS8 = PHYOptions(rawValue: 0x02)
    /// Only 500 kbit/s.
    public static let requireS2 = PHYOptions(rawValue: 0x03)
    /// Only 125 kbit/s.
    public static let requireS8 = PHYOptions(rawValue: 0x04)
}
