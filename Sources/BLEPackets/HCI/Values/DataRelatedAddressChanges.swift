/// Which new data brings a new private address (Core 5.4, Vol 4, Part E, 7.8.122).
public struct DataRelatedAddressChanges: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// New advertising data brings a new address.
    public static let advertisingData = DataRelatedAddressChanges(rawValue: 1 << 0)
    /// New scan response data brings a new address.
    public static let scanResponseData = DataRelatedAddressChanges(rawValue: 1 << 1)
}
