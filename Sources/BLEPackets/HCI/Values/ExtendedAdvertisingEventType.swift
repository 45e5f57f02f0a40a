/// The kind of an extended advertising report (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct ExtendedAdvertisingEventType: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The advertiser is connectable.
    public static let connectable = ExtendedAdvertisingEventType(rawValue: 1 << 0)
    /// The advertiser has a scan response.
    public static let scannable = ExtendedAdvertisingEventType(rawValue: 1 << 1)
    /// The advertisement is for one device only.
    public static let directed = ExtendedAdvertisingEventType(rawValue: 1 << 2)
    /// The report is a scan response.
    public static let scanResponse = ExtendedAdvertisingEventType(rawValue: 1 << 3)
    /// A legacy PDU: the report describes what an old advertiser sent.
    public static let legacy = ExtendedAdvertisingEventType(rawValue: 1 << 4)
    /// More data of the same advertisement follows in a later report.
    public static let incompleteMoreToCome = ExtendedAdvertisingEventType(rawValue: 1 << 5)
    /// The rest of the data was lost.
    public static let incompleteTruncated = ExtendedAdvertisingEventType(rawValue: 2 << 5)

    /// Whether the data is complete, continues in the next report, or was cut off.
    @inlinable public var dataStatus: AdvertisingDataStatus {
        AdvertisingDataStatus(rawValue: UInt8(truncatingIfNeeded: rawValue >> 5 & 0b11))
    }
}
