// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys of the dictionary of a discovery, and of the dictionary for advertising (SPEC 2.2).

/// A `String`: the device's name.
public let CBAdvertisementDataLocalNameKey: String = "kCBAdvDataLocalName"
/// `Data`: company identifier, least significant octet first, then the company's own data.
public let CBAdvertisementDataManufacturerDataKey: String = "kCBAdvDataManufacturerData"
/// A dictionary from `CBUUID` to `Data`.
public let CBAdvertisementDataServiceDataKey: String = "kCBAdvDataServiceData"
/// An array of `CBUUID`.
public let CBAdvertisementDataServiceUUIDsKey: String = "kCBAdvDataServiceUUIDs"
/// An array of `CBUUID`: services of the scan that are probably in the overflow area (SPEC 3.6).
public let CBAdvertisementDataOverflowServiceUUIDsKey: String = "kCBAdvDataHashedServiceUUIDs"
/// An `NSNumber`: the transmit power in dBm.
public let CBAdvertisementDataTxPowerLevelKey: String = "kCBAdvDataTxPowerLevel"
/// An `NSNumber`: whether the advertisement is connectable.
public let CBAdvertisementDataIsConnectable: String = "kCBAdvDataIsConnectable"
/// An array of `CBUUID`: services that the device solicits.
public let CBAdvertisementDataSolicitedServiceUUIDsKey: String = "kCBAdvDataSolicitedServiceUUIDs"

/// Keys that Apple's system uses without documenting them.
enum UndocumentedAdvertisementKey {
    /// An `NSNumber`: the `CFAbsoluteTime` at which the packet was received.
    static let timestamp = "kCBAdvDataTimestamp"
}
