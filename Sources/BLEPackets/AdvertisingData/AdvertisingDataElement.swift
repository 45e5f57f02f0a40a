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

/// The discoverability and the BR/EDR abilities of a device (Core Specification Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device can be found for a short time only, as after a button was pressed; not together with
    /// `leGeneralDiscoverable`.
    public static let leLimitedDiscoverable = AdvertisingFlags(rawValue: 0x01)
    /// The device is discoverable without a time limit. Without this bit and the limited one it is not discoverable,
    /// and general discovery ignores it.
    public static let leGeneralDiscoverable = AdvertisingFlags(rawValue: 0x02)
    /// The device supports only LE, or advertises so.
    public static let brEdrNotSupported = AdvertisingFlags(rawValue: 0x04)
    /// The controller supports simultaneous LE and BR/EDR links to one device.
    public static let simultaneousLEAndBREDRController = AdvertisingFlags(rawValue: 0x08)
    /// The host supports simultaneous LE and BR/EDR links to one device. Newer supplements do not use this bit.
    public static let simultaneousLEAndBREDRHost = AdvertisingFlags(rawValue: 0x10)
}

/// The roles of a device, and which it prefers (Core Specification Supplement, Part A, 1.17).
public struct LERole: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Only peripheral.
    public static let peripheralOnly = LERole(rawValue: 0x00)
    /// Only central.
    public static let centralOnly = LERole(rawValue: 0x01)
    /// Can do both and would rather wait for the link.
    public static let bothPeripheralPreferred = LERole(rawValue: 0x02)
    /// Can do both and would rather make the link.
    public static let bothCentralPreferred = LERole(rawValue: 0x03)
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
