// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys of the dictionary that a discovery brings, and of the one that advertising takes (SPEC 2.2).

/// A `String`: the device's name.
public let CBAdvertisementDataLocalNameKey: String = "kCBAdvDataLocalName"
/// `Data`: company identifier, least significant octet first, and what the company says.
public let CBAdvertisementDataManufacturerDataKey: String = "kCBAdvDataManufacturerData"
/// A dictionary of `CBUUID` and `Data`.
public let CBAdvertisementDataServiceDataKey: String = "kCBAdvDataServiceData"
/// An array of `CBUUID`.
public let CBAdvertisementDataServiceUUIDsKey: String = "kCBAdvDataServiceUUIDs"
/// An array of `CBUUID`: services of the scan that the overflow area probably holds (SPEC 3.6).
public let CBAdvertisementDataOverflowServiceUUIDsKey: String = "kCBAdvDataHashedServiceUUIDs"
/// An `NSNumber` in dBm.
public let CBAdvertisementDataTxPowerLevelKey: String = "kCBAdvDataTxPowerLevel"
/// An `NSNumber` that tells whether the advertisement takes connections.
public let CBAdvertisementDataIsConnectable: String = "kCBAdvDataIsConnectable"
/// An array of `CBUUID`: services that the device looks for.
public let CBAdvertisementDataSolicitedServiceUUIDsKey: String = "kCBAdvDataSolicitedServiceUUIDs"

/// Keys that Apple's system puts into the dictionary without documenting them.
enum UndocumentedAdvertisementKey {
    /// An `NSNumber`: `CFAbsoluteTime` at which the packet was heard.
    static let timestamp = "kCBAdvDataTimestamp"
}
