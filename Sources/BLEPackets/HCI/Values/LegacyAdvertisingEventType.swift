/// The kind of a legacy advertising report (Core 5.4, Vol 4, Part E, 7.7.65.2).
public struct LegacyAdvertisingEventType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// ADV_IND
    public static let connectableUndirected = LegacyAdvertisingEventType(rawValue: 0x00)
    /// ADV_DIRECT_IND
    public static let connectableDirected = LegacyAdvertisingEventType(rawValue: 0x01)
    /// ADV_SCAN_IND
    public static let scannableUndirected = LegacyAdvertisingEventType(rawValue: 0x02)
    /// ADV_NONCONN_IND
    public static let nonConnectableUndirected = LegacyAdvertisingEventType(rawValue: 0x03)
    /// SCAN_RSP
    public static let scanResponse = LegacyAdvertisingEventType(rawValue: 0x04)

    /// Whether the advertiser is connectable; `false` for a scan response, which does not contain this.
    @inlinable public var isConnectable: Bool { rawValue <= 1 }
    /// Whether the advertiser has a scan response.
    @inlinable public var isScannable: Bool { rawValue == 0 || rawValue == 2 }
    /// Whether the report is a scan response.
    @inlinable public var isScanResponse: Bool { rawValue == 4 }
}
