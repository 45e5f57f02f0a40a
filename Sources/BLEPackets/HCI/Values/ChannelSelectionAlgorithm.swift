/// How a link chooses its channels (Core 5.4, Vol 4, Part E, 7.7.65.20).
public struct ChannelSelectionAlgorithm: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The one of Bluetooth 4.0, which every device has: a fixed hop (Core 5.4, Vol 6, Part B, 4.5.8.2).
    public static let algorithm1 = ChannelSelectionAlgorithm(rawValue: 0x00)
    /// A pseudorandom order, if both sides support it (Core 5.4, Vol 6, Part B, 4.5.8.3).
    public static let algorithm2 = ChannelSelectionAlgorithm(rawValue: 0x01)
}
