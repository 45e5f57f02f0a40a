/// Whether a train is reported, and how (Core 5.4, Vol 4, Part E, 7.8.88).
public struct PeriodicReceiveEnable: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The data of the train is reported; without this bit it is followed in silence.
    public static let reports = PeriodicReceiveEnable(rawValue: 1 << 0)
    /// Data is reported only once, as far as the train allows that to be recognised.
    public static let filtersDuplicates = PeriodicReceiveEnable(rawValue: 1 << 1)
}
