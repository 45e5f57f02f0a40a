/// The properties of a periodic train (Core 5.4, Vol 4, Part E, 7.8.61).
public struct PeriodicAdvertisingProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Tells the power in the header of the packets.
    public static let includesTransmitPower = PeriodicAdvertisingProperties(rawValue: 1 << 6)
}
