/// Whether a periodic train runs, and how (Core 5.4, Vol 4, Part E, 7.8.63).
public struct PeriodicAdvertisingEnable: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The train runs as soon as its set advertises; without this bit it stops.
    public static let enabled = PeriodicAdvertisingEnable(rawValue: 1 << 0)
    /// Lets receivers recognise new data.
    public static let includesAdvertisingDataInformation = PeriodicAdvertisingEnable(rawValue: 1 << 1)
}
