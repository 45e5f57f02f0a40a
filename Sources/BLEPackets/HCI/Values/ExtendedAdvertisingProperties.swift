/// The properties of an advertising set (Core 5.4, Vol 4, Part E, 7.8.53).
public struct ExtendedAdvertisingProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Connectable. Extended PDUs cannot be scannable as well.
    public static let connectable = ExtendedAdvertisingProperties(rawValue: 1 << 0)
    /// Scannable. Extended PDUs cannot be connectable as well, and have all their data in the scan response.
    public static let scannable = ExtendedAdvertisingProperties(rawValue: 1 << 1)
    /// Is for one device only, the peer that the parameters name.
    public static let directed = ExtendedAdvertisingProperties(rawValue: 1 << 2)
    /// Directed with less than 3.75 ms between packets, for at most 1.28 s; legacy PDUs only.
    public static let highDutyCycleDirected = ExtendedAdvertisingProperties(rawValue: 1 << 3)
    /// Sends legacy PDUs, which every scanner receives.
    public static let legacy = ExtendedAdvertisingProperties(rawValue: 1 << 4)
    /// Leaves the advertiser's address away.
    public static let anonymous = ExtendedAdvertisingProperties(rawValue: 1 << 5)
    /// Tells the power in the header of extended PDUs; legacy PDUs have no place for it.
    public static let includesTransmitPower = ExtendedAdvertisingProperties(rawValue: 1 << 6)

    /// The properties of the legacy type ADV_IND.
    public static let legacyConnectableUndirected: Self = [.connectable, .scannable, .legacy]
    /// The properties of the legacy type ADV_SCAN_IND.
    public static let legacyScannableUndirected: Self = [.scannable, .legacy]
    /// The properties of the legacy type ADV_NONCONN_IND.
    public static let legacyNonConnectableUndirected: Self = [.legacy]
}
