/// Whether the controller tries to report each advertiser only once (Core 5.4, Vol 4, Part E, 7.8.65).
public struct DuplicateFilter: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Every received packet is reported.
    public static let off = DuplicateFilter(rawValue: 0x00)
    /// Each advertiser is reported once until scanning ends; new data may be reported again.
    public static let on = DuplicateFilter(rawValue: 0x01)
    /// Each scan period reports everyone again.
    public static let resetEachPeriod = DuplicateFilter(rawValue: 0x02)
}
