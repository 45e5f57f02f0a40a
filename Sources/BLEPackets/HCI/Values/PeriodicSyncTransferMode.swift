/// What to do when a peer transfers a train (Core 5.4, Vol 4, Part E, 7.8.91).
public struct PeriodicSyncTransferMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignore the train; the host is not notified.
    public static let ignore = PeriodicSyncTransferMode(rawValue: 0x00)
    /// Synchronize to the train and notify the host, but report no data.
    public static let followWithoutReports = PeriodicSyncTransferMode(rawValue: 0x01)
    /// Follow the train and report its data.
    public static let followWithReports = PeriodicSyncTransferMode(rawValue: 0x02)
    /// Synchronize to the train and report its data, each only once as far as that can be recognised.
    public static let followWithFilteredReports = PeriodicSyncTransferMode(rawValue: 0x03)
}
