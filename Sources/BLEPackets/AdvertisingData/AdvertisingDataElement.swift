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
    /// UTF-8 as the device sent it, which may be broken.
    case localName(RawSpan, isComplete: Bool)
    /// Power at which the packet was sent, in dBm.
    case txPowerLevel(Int8)
    /// What the device looks like, a number of the Assigned Numbers; it need not agree with what GATT says.
    case appearance(UInt16)
    /// - Parameter company: a company identifier of the Assigned Numbers.
    case manufacturerData(company: UInt16, RawSpan)
    /// A service, and data in the form that it defines.
    case serviceData(BluetoothUUID, RawSpan)
    /// The connection intervals that the peripheral prefers; a hint to the central.
    case peripheralConnectionIntervalRange(ConnectionIntervalRange)
    /// Devices that the advertisement is meant for.
    case targetAddresses(AdvertisedAddressList)
    /// The device's address, for use over another channel than advertising.
    case deviceAddress(DeviceAddress)
    /// What the device can be, and would rather be.
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

/// The discoverability and the BR/EDR abilities of a device (Core Specification Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device can be found for a short time only, as after a button was pressed; not together with
    /// `leGeneralDiscoverable`.
    public static let leLimitedDiscoverable = AdvertisingFlags(rawValue: 0x01)
    /// The device can be found for as long as it likes. Without either bit it is in no discoverable mode, and a scan
    /// that looks for discoverable devices passes it over.
    public static let leGeneralDiscoverable = AdvertisingFlags(rawValue: 0x02)
    /// The device has LE alone, or shows itself so.
    public static let brEdrNotSupported = AdvertisingFlags(rawValue: 0x04)
    /// The controller can hold links of LE and of BR/EDR to one device at once.
    public static let simultaneousLEAndBREDRController = AdvertisingFlags(rawValue: 0x08)
    /// The host can hold links of LE and of BR/EDR to one device at once. Newer supplements give the bit no use.
    public static let simultaneousLEAndBREDRHost = AdvertisingFlags(rawValue: 0x10)
}

/// The roles of a device, and which it prefers (Core Specification Supplement, Part A, 1.17).
public struct LERole: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Waits for links and never makes one.
    public static let peripheralOnly = LERole(rawValue: 0x00)
    /// Makes links and never waits for one.
    public static let centralOnly = LERole(rawValue: 0x01)
    /// Can do both and would rather wait for the link.
    public static let bothPeripheralPreferred = LERole(rawValue: 0x02)
    /// Can do both and would rather make the link.
    public static let bothCentralPreferred = LERole(rawValue: 0x03)
}

/// The connection intervals that a peripheral likes best (Core Specification Supplement, Part A, 1.9).
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
