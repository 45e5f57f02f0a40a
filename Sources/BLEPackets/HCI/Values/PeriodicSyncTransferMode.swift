/// What to do when a peer tells of a train (Core 5.4, Vol 4, Part E, 7.8.91).
public struct PeriodicSyncTransferMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Nothing, and the host hears nothing of it.
    public static let ignore = PeriodicSyncTransferMode(rawValue: 0x00)
    /// Follow the train and tell the host, but report no data.
    public static let followWithoutReports = PeriodicSyncTransferMode(rawValue: 0x01)
    /// Follow the train and report its data.
    public static let followWithReports = PeriodicSyncTransferMode(rawValue: 0x02)
    /// Follow the train and report its data, each once as far as the train makes that visible.
    public static let followWithFilteredReports = PeriodicSyncTransferMode(rawValue: 0x03)
}
