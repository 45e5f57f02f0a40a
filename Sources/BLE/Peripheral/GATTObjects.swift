import BLEHost
import BLEPackets

/// A service of a peer (SPEC MOD-4).
public typealias Service = DiscoveredService

/// A characteristic of a peer's service (SPEC MOD-5).
public typealias Characteristic = DiscoveredCharacteristic

/// A descriptor of a peer's characteristic.
public typealias Descriptor = DiscoveredDescriptor

extension Characteristic {
    /// Makes one that an earlier connection discovered.
    public init(
        uuid: BluetoothUUID, handle: AttributeHandle, valueHandle: AttributeHandle, endHandle: AttributeHandle,
        properties: CharacteristicProperties
    ) {
        self.init(
            handle: handle, valueHandle: valueHandle, endHandle: endHandle, properties: properties, uuid: uuid)
    }

    /// The handles that descriptors may have.
    var descriptorRange: AttributeHandleRange? {
        guard valueHandle < endHandle else { return nil }
        return AttributeHandleRange(AttributeHandle(rawValue: valueHandle.rawValue + 1), endHandle)
    }
}

extension Descriptor {
    /// Makes one that an earlier connection discovered.
    public init(uuid: BluetoothUUID, handle: AttributeHandle) { self.init(handle: handle, uuid: uuid) }
}
