import BLEPackets

/// A request to one remote peripheral. Each except `writeWithoutResponse` ends with one `PeripheralEvent` of the same
/// attribute, in the order of the requests, unless the connection ends first (SPEC CEN-11 to CEN-22).
public enum PeripheralRequest: Hashable, Sendable {
    /// Discovers these services; empty: all. Ends with `servicesDiscovered`.
    case discoverServices([BluetoothUUID])
    /// Discovers these included services; empty: all. Ends with `includedServicesDiscovered`.
    case discoverIncludedServices([BluetoothUUID], service: RemoteAttributeID)
    /// Discovers these characteristics; empty: all. Ends with `characteristicsDiscovered`.
    case discoverCharacteristics([BluetoothUUID], service: RemoteAttributeID)
    /// Discovers all descriptors. Ends with `descriptorsDiscovered`.
    case discoverDescriptors(characteristic: RemoteAttributeID)
    /// Reads the whole value. Ends with `valueUpdated`.
    case readValue(characteristic: RemoteAttributeID)
    /// Reads the whole value of a descriptor. Ends with `descriptorValueUpdated`.
    case readDescriptor(RemoteAttributeID)
    /// Writes the value with a response. Ends with `valueWritten`.
    case writeValue([UInt8], characteristic: RemoteAttributeID)
    /// Writes the value without a response. Sends no event, not even for a failure (SPEC CEN-20).
    case writeWithoutResponse([UInt8], characteristic: RemoteAttributeID)
    /// Writes a descriptor. Ends with `descriptorWritten`. The Client Characteristic Configuration is rejected (SPEC
    /// 2.3).
    case writeDescriptor([UInt8], RemoteAttributeID)
    /// Subscribes or unsubscribes. Ends with `notificationStateUpdated` (SPEC CEN-15).
    case setNotify(Bool, characteristic: RemoteAttributeID)
    /// Reads the RSSI of the link. Ends with `rssiRead`.
    case readRSSI
    /// Opens an L2CAP channel. Ends with `channelOpened`.
    case openChannel(psm: UInt16)
}
