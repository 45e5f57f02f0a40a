import BLEPackets

/// A pending request to a remote peripheral.
enum PeripheralTask: Equatable {
    case discoverServices
    case discoverIncludedServices([BluetoothUUID], service: RemoteAttributeID)
    case discoverCharacteristics(service: RemoteAttributeID)
    case discoverDescriptors(characteristic: RemoteAttributeID)
    /// Discovers the descriptors to find the Client Characteristic Configuration, in order to subscribe.
    case findConfiguration(characteristic: RemoteAttributeID)
    case read(characteristic: RemoteAttributeID)
    case readDescriptor(RemoteAttributeID)
    case write(characteristic: RemoteAttributeID)
    case writeWithoutResponse
    case writeDescriptor(RemoteAttributeID)
    case subscribe(characteristic: RemoteAttributeID)
    case unsubscribe(characteristic: RemoteAttributeID)
    case readRSSI
    case openChannel(psm: UInt16)
    // What is known of an earlier link is confirmed on a new one, without a word to the app.
    case confirmServices
    case confirmCharacteristics(service: RemoteAttributeID)
    case confirmConfiguration(characteristic: RemoteAttributeID)
    case subscribeAgain(characteristic: RemoteAttributeID)

    /// The characteristic for which it turns notifications on or off.
    var notifyingCharacteristic: RemoteAttributeID? {
        switch self {
        case .findConfiguration(let id), .subscribe(let id), .unsubscribe(let id): id
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .readDescriptor, .write, .writeWithoutResponse, .writeDescriptor, .readRSSI, .openChannel,
            .confirmServices, .confirmCharacteristics, .confirmConfiguration, .subscribeAgain:
            nil
        }
    }

    /// Whether other tasks follow from this one, before any later request of the app.
    var isFirstStep: Bool {
        switch self {
        case .findConfiguration, .confirmServices, .confirmCharacteristics, .confirmConfiguration, .subscribeAgain: true
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read,
            .readDescriptor, .write, .writeWithoutResponse, .writeDescriptor, .subscribe, .unsubscribe, .readRSSI,
            .openChannel:
            false
        }
    }
}
