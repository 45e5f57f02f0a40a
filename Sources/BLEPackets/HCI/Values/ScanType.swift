/// Whether a scanner requests scan responses (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The scanner only listens, and no advertiser learns of it.
    public static let passive = ScanType(rawValue: 0x00)
    /// The scanner requests all scan responses.
    public static let active = ScanType(rawValue: 0x01)
}
