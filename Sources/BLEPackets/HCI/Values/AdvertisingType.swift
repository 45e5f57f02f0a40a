/// How a legacy advertiser may be answered (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// ADV_IND
    public static let connectableUndirected = AdvertisingType(rawValue: 0x00)
    /// ADV_DIRECT_IND, at most 1.28 s
    public static let connectableDirectedHighDutyCycle = AdvertisingType(rawValue: 0x01)
    /// ADV_SCAN_IND
    public static let scannableUndirected = AdvertisingType(rawValue: 0x02)
    /// ADV_NONCONN_IND
    public static let nonConnectableUndirected = AdvertisingType(rawValue: 0x03)
    /// ADV_DIRECT_IND
    public static let connectableDirectedLowDutyCycle = AdvertisingType(rawValue: 0x04)
}
