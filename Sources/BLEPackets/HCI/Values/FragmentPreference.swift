/// Whether the controller may spread data over several packets (Core 5.4, Vol 4, Part E, 7.8.54).
public struct FragmentPreference: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The controller may fragment the data.
    public static let mayFragment = FragmentPreference(rawValue: 0x00)
    /// The controller spreads the data as little as it can.
    public static let shouldNotFragment = FragmentPreference(rawValue: 0x01)
}
