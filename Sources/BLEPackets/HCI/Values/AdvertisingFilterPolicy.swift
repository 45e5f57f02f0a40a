/// Whose requests an advertiser heeds (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingFilterPolicy: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Every device may request the scan response and connect.
    public static let all = AdvertisingFilterPolicy(rawValue: 0x00)
    /// Only devices of the filter accept list may request the scan response; every device may connect.
    public static let scanRequestsFromAcceptList = AdvertisingFilterPolicy(rawValue: 0x01)
    /// Every device may request the scan response; only devices of the filter accept list may connect.
    public static let connectionsFromAcceptList = AdvertisingFilterPolicy(rawValue: 0x02)
    /// Only devices of the filter accept list may request the scan response and connect.
    public static let acceptListOnly = AdvertisingFilterPolicy(rawValue: 0x03)
}
