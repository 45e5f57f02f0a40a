/// How to follow a train (Core 5.4, Vol 4, Part E, 7.8.67).
public struct PeriodicSyncOptions: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Any train of the periodic advertiser list will do.
    public static let usesAdvertiserList = PeriodicSyncOptions(rawValue: 1 << 0)
    /// Nothing is reported before `LESetPeriodicAdvertisingReceiveEnable`.
    public static let reportsDisabled = PeriodicSyncOptions(rawValue: 1 << 1)
    /// Data is reported only once, as far as the train allows that to be recognised.
    public static let filtersDuplicates = PeriodicSyncOptions(rawValue: 1 << 2)
}
