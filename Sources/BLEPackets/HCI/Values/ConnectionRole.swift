/// The role of the local device on a link (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct ConnectionRole: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Made the link, and sets its timing.
    public static let central = ConnectionRole(rawValue: 0x00)
    /// Advertised, and follows the central's timing.
    public static let peripheral = ConnectionRole(rawValue: 0x01)
}
