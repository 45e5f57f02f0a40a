/// The kind of transmit power of a link (Core 5.4, Vol 4, Part E, 7.3.35).
public struct TransmitPowerKind: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The power with which the link sends now.
    public static let current = TransmitPowerKind(rawValue: 0x00)
    /// The greatest power that the controller could send with.
    public static let maximum = TransmitPowerKind(rawValue: 0x01)
}
