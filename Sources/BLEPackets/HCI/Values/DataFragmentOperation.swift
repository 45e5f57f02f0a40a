/// Which part of the data a command carries (Core 5.4, Vol 4, Part E, 7.8.54).
public struct DataFragmentOperation: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Neither the first nor the last part.
    public static let intermediate = DataFragmentOperation(rawValue: 0x00)
    /// The first of several parts; parts are allowed only while the set does not advertise.
    public static let first = DataFragmentOperation(rawValue: 0x01)
    /// The last of several parts.
    public static let last = DataFragmentOperation(rawValue: 0x02)
    /// All of the data in one command.
    public static let complete = DataFragmentOperation(rawValue: 0x03)
    /// No new data, but a new data identifier.
    public static let unchanged = DataFragmentOperation(rawValue: 0x04)
}
