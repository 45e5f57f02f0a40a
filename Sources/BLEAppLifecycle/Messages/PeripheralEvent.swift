import BLEHost
import BLEPackets

/// What the delegate of one remote peripheral is told (SPEC CEN-11 to CEN-20).
public enum PeripheralEvent: Hashable, Codable, Sendable {
    /// - Parameter services: all that have been discovered of this peripheral, in the order of their handles.
    case servicesDiscovered([RemoteService], ClientError?)
    /// `didDiscoverIncludedServicesFor`: all that this service refers to.
    case includedServicesDiscovered(service: RemoteAttributeID, [RemoteService], ClientError?)
    /// - Parameter characteristics: all that have been discovered of this service, in the order of their handles.
    case characteristicsDiscovered(service: RemoteAttributeID, [RemoteCharacteristic], ClientError?)
    /// `didDiscoverDescriptorsFor`: all that have been discovered of this characteristic.
    case descriptorsDiscovered(characteristic: RemoteAttributeID, [RemoteDescriptor], ClientError?)
    /// A value that was read, or that the peripheral sent (SPEC CEN-13, CEN-17); `nil` with an error.
    case valueUpdated(characteristic: RemoteAttributeID, [UInt8]?, ClientError?)
    /// `didUpdateValueFor` of a descriptor that was read; `nil` with an error.
    case descriptorValueUpdated(RemoteAttributeID, [UInt8]?, ClientError?)
    /// `didWriteValueFor`: the device has answered a write.
    case valueWritten(characteristic: RemoteAttributeID, ClientError?)
    /// `didWriteValueFor` of a descriptor.
    case descriptorWritten(RemoteAttributeID, ClientError?)
    /// - Parameter isNotifying: as it is now, whatever was asked for (SPEC CEN-18).
    case notificationStateUpdated(characteristic: RemoteAttributeID, isNotifying: Bool, ClientError?)
    /// - Parameter rssi: dBm; 127 when it is unknown.
    case rssiRead(rssi: Int8, ClientError?)
    /// `peripheralDidUpdateName`; `nil` where the device has no name any more.
    case nameUpdated(String?)
    /// These services, and all that is in them, stand for nothing any more (SPEC 2.3).
    case servicesModified(invalidated: [RemoteAttributeID])
    /// Whether writes without response are taken now. From `false` to `true` is
    /// `peripheralIsReady(toSendWriteWithoutResponse:)`.
    case writeWithoutResponseAvailable(Bool)
    /// The limits changed with ATT_MTU; no delegate's call.
    case writeLimitsChanged(WriteLimits)
    /// `didOpen`; no identifier with an error.
    case channelOpened(L2CAPChannelID?, psm: UInt16, ClientError?)
}

/// A service of a remote peripheral.
public struct RemoteService: Hashable, Codable, Sendable {
    /// Names it as long as the device's database stays what it is.
    public var id: RemoteAttributeID
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// Whether it means something by itself, and not only in the services that include it.
    public var isPrimary: Bool
    /// What has been discovered of it: `nil` where nobody asked.
    public var includedServices: [RemoteAttributeID]?
    /// `nil` where nobody asked.
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
    /// Names it as long as the device's database stays what it is.
    public var id: RemoteAttributeID
    /// What kind of characteristic it is.
    public var uuid: BluetoothUUID
    /// The octet of the declaration, as `CBCharacteristicProperties` (SPEC 2.1).
    public var properties: UInt8
    /// Whether this app is sent its values.
    public var isNotifying: Bool
    /// `nil` where nobody asked.
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
    /// Names it as long as the device's database stays what it is.
    public var id: RemoteAttributeID
    /// What kind of descriptor it is.
    public var uuid: BluetoothUUID

    public init(id: RemoteAttributeID, uuid: BluetoothUUID) {
        self.id = id
        self.uuid = uuid
    }
}
