import BLEHost
import BLEPackets

/// A request to one remote peripheral. Each except `writeWithoutResponse` ends with one `PeripheralEvent` of the same
/// attribute, in the order of the requests, unless the connection ends first (SPEC CEN-11 to CEN-22).
public enum PeripheralRequest: Hashable, Codable, Sendable {
    /// Empty: all. Ends with `servicesDiscovered`.
    case discoverServices([BluetoothUUID])
    /// Empty: all. Ends with `includedServicesDiscovered`.
    case discoverIncludedServices([BluetoothUUID], service: RemoteAttributeID)
    /// Empty: all. Ends with `characteristicsDiscovered`.
    case discoverCharacteristics([BluetoothUUID], service: RemoteAttributeID)
    /// Ends with `descriptorsDiscovered`.
    case discoverDescriptors(characteristic: RemoteAttributeID)
    /// Ends with `valueUpdated`.
    case readValue(characteristic: RemoteAttributeID)
    /// Ends with `descriptorValueUpdated`.
    case readDescriptor(RemoteAttributeID)
    /// Ends with `valueWritten`.
    case writeValue([UInt8], characteristic: RemoteAttributeID)
    /// Sends no event, not even for a failure (SPEC CEN-20).
    case writeWithoutResponse([UInt8], characteristic: RemoteAttributeID)
    /// Ends with `descriptorWritten`. The Client Characteristic Configuration is rejected (SPEC 2.3).
    case writeDescriptor([UInt8], RemoteAttributeID)
    /// Ends with `notificationStateUpdated` (SPEC CEN-15).
    case setNotify(Bool, characteristic: RemoteAttributeID)
    /// Ends with `rssiRead`.
    case readRSSI
    /// Ends with `channelOpened`.
    case openChannel(psm: UInt16)
}
