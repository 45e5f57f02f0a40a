/// Whether a train is reported, and how (Core 5.4, Vol 4, Part E, 7.8.88).
public struct PeriodicReceiveEnable: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let reports = PeriodicReceiveEnable(rawValue: 1 << 0)
    public static let filtersDuplicates = PeriodicReceiveEnable(rawValue: 1 << 1)
}
