/// The meaning of an advertising-data structure (Core Specification Supplement, Part A, 1).
///
/// Octets and lists are borrowed from the packet.
public enum AdvertisingDataElement: ~Escapable {
    /// No octet at all means that no flag is set.
    case flags(AdvertisingFlags)
    /// Services that the device offers.
    case serviceUUIDs(AdvertisedUUIDList, isComplete: Bool)
    /// Services that the device looks for in others.
    case solicitedServiceUUIDs(AdvertisedUUIDList)
    /// UTF-8 from the device, which may be invalid.
    case localName(RawSpan, isComplete: Bool)
    /// Power at which the packet was sent, in dBm.
    case txPowerLevel(Int8)
    /// The appearance (Assigned Numbers); it may differ from the one in GATT.
    case appearance(UInt16)
    /// - Parameter company: a company identifier of the Assigned Numbers.
    case manufacturerData(company: UInt16, RawSpan)
    /// A service, and data in the form that it defines.
    case serviceData(BluetoothUUID, RawSpan)
    /// The connection intervals that the peripheral prefers; a hint to the central.
    case peripheralConnectionIntervalRange(ConnectionIntervalRange)
    /// The devices for which the advertisement is meant.
    case targetAddresses(AdvertisedAddressList)
    /// The device's address, for use over another channel than advertising.
    case deviceAddress(DeviceAddress)
    /// The roles of the device, and the one that it prefers.
    case role(LERole)
    /// In units of 0.625 ms.
    case advertisingInterval(UInt32)
    /// A scheme code and UTF-8.
    case uri(RawSpan)
    /// Feature bits, least significant octet first.
    case leSupportedFeatures(RawSpan)
    /// UTF-8, 4 to 32 characters.
    case broadcastName(RawSpan)
    /// A type without a case here, among them those that have no meaning.
    case other(AdvertisingDataType, RawSpan)
}

/// The connection intervals that a peripheral prefers (Core Specification Supplement, Part A, 1.9).
public struct ConnectionIntervalRange: Hashable, Sendable {
    /// In units of 1.25 ms, 6 to 3200; 0xFFFF: no preference.
    public var minimum: UInt16
    /// In units of 1.25 ms, 6 to 3200; 0xFFFF: no preference.
    public var maximum: UInt16

    public init(minimum: UInt16, maximum: UInt16) {
        self.minimum = minimum
        self.maximum = maximum
    }
}
