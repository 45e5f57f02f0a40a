/// What to do when a peer tells of a train (Core 5.4, Vol 4, Part E, 7.8.91).
public struct PeriodicSyncTransferMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ignore = PeriodicSyncTransferMode(rawValue: 0x00)
    public static let followWithoutReports = PeriodicSyncTransferMode(rawValue: 0x01)
    public static let followWithReports = PeriodicSyncTransferMode(rawValue: 0x02)
    public static let followWithFilteredReports = PeriodicSyncTransferMode(rawValue: 0x03)
}
