import BLEPackets

/// An event for the delegate of one remote peripheral (SPEC CEN-11 to CEN-20).
public enum PeripheralEvent: Hashable, Sendable {
    /// `didDiscoverServices`.
    /// - Parameter services: all discovered services of this peripheral, in the order of their handles.
    case servicesDiscovered([RemoteService], ClientError?)
    /// `didDiscoverIncludedServicesFor`: all discovered services that this service includes.
    case includedServicesDiscovered(service: RemoteAttributeID, [RemoteService], ClientError?)
    /// `didDiscoverCharacteristicsFor`.
    /// - Parameter characteristics: all discovered characteristics of this service, in the order of their handles.
    case characteristicsDiscovered(service: RemoteAttributeID, [RemoteCharacteristic], ClientError?)
    /// `didDiscoverDescriptorsFor`: all discovered descriptors of this characteristic.
    case descriptorsDiscovered(characteristic: RemoteAttributeID, [RemoteDescriptor], ClientError?)
    /// `didUpdateValueFor`: a value that was read, or that the peripheral sent (SPEC CEN-13, CEN-17); `nil` if there is
    /// an error.
    case valueUpdated(characteristic: RemoteAttributeID, [UInt8]?, ClientError?)
    /// `didUpdateValueFor` of a descriptor that was read; `nil` if there is an error.
    case descriptorValueUpdated(RemoteAttributeID, [UInt8]?, ClientError?)
    /// `didWriteValueFor`: the device has responded to a write.
    case valueWritten(characteristic: RemoteAttributeID, ClientError?)
    /// `didWriteValueFor` of a descriptor.
    case descriptorWritten(RemoteAttributeID, ClientError?)
    /// `didUpdateNotificationStateFor`.
    /// - Parameter isNotifying: the state now, whatever the request was (SPEC CEN-18).
    case notificationStateUpdated(characteristic: RemoteAttributeID, isNotifying: Bool, ClientError?)
    /// `didReadRSSI`.
    /// - Parameter rssi: dBm; 127 when it is unknown.
    case rssiRead(rssi: Int8, ClientError?)
    /// `peripheralDidUpdateName`; `nil` if the device no longer has a name.
    case nameUpdated(String?)
    /// `didModifyServices`: these services and everything in them are no longer valid (SPEC 2.3).
    case servicesModified(invalidated: [RemoteAttributeID])
    /// Whether writes without response are accepted now. A change from `false` to `true` is
    /// `peripheralIsReady(toSendWriteWithoutResponse:)`.
    case writeWithoutResponseAvailable(Bool)
    /// The limits changed with ATT_MTU; not a delegate call.
    case writeLimitsChanged(WriteLimits)
    /// `didOpen`; the identifier is `nil` if there is an error.
    case channelOpened(L2CAPChannelID?, psm: UInt16, ClientError?)
}

/// A service of a remote peripheral.
public struct RemoteService: Hashable, Codable, Sendable {
    /// Its identifier, valid as long as the device's database does not change.
    public var id: RemoteAttributeID
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether the service is a primary service.
    public var isPrimary: Bool
    /// The discovered included services; `nil` before discovery.
    public var includedServices: [RemoteAttributeID]?
    /// The discovered characteristics; `nil` before discovery.
    public var characteristics: [RemoteCharacteristic]?
    /// The last handle of the service.
    package var endHandle: UInt16

    public init(
        id: RemoteAttributeID, uuid: BluetoothUUID, isPrimary: Bool, endHandle: UInt16,
        includedServices: [RemoteAttributeID]? = nil, characteristics: [RemoteCharacteristic]? = nil
    ) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.endHandle = endHandle
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// A characteristic of a remote peripheral.
public struct RemoteCharacteristic: Hashable, Codable, Sendable {
    /// Its identifier, valid as long as the device's database does not change.
    public var id: RemoteAttributeID
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// The properties in the declaration, as `CBCharacteristicProperties` (SPEC 2.1).
    public var properties: UInt8
    /// Whether this app is subscribed to the value.
    public var isNotifying: Bool
    /// The discovered descriptors; `nil` before discovery.
    public var descriptors: [RemoteDescriptor]?
    package var valueHandle: UInt16
    package var endHandle: UInt16
    /// The handle of the Client Characteristic Configuration, once it is known.
    package var configuration: UInt16?

    package init(
        id: RemoteAttributeID, uuid: BluetoothUUID, properties: UInt8, isNotifying: Bool,
        descriptors: [RemoteDescriptor]? = nil, valueHandle: UInt16, endHandle: UInt16, configuration: UInt16? = nil
    ) {
        self.id = id
        self.uuid = uuid
        self.properties = properties
        self.isNotifying = isNotifying
        self.descriptors = descriptors
        self.valueHandle = valueHandle
        self.endHandle = endHandle
        self.configuration = configuration
    }
}

/// A descriptor of a remote characteristic.
public struct RemoteDescriptor: Hashable, Codable, Sendable {
    /// Its identifier, valid as long as the device's database does not change.
    public var id: RemoteAttributeID
    /// The type of the descriptor.
    public var uuid: BluetoothUUID

    public init(id: RemoteAttributeID, uuid: BluetoothUUID) {
        self.id = id
        self.uuid = uuid
    }
}
