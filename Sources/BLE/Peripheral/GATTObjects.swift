import BLEHost
import BLEPackets

/// A service of a peer (SPEC MOD-4).
public struct Service: Hashable, Sendable {
    public let uuid: BluetoothUUID
    /// From the declaration to the last attribute.
    public let range: AttributeHandleRange
    public let isPrimary: Bool
}

/// A service that another one includes.
public struct IncludedService: Hashable, Sendable {
    /// The handle of the include declaration.
    public let handle: AttributeHandle
    public let service: Service
}

/// A characteristic of a peer's service (SPEC MOD-5).
public struct Characteristic: Hashable, Sendable {
    public let uuid: BluetoothUUID
    /// The handle of the declaration.
    public let handle: AttributeHandle
    public let valueHandle: AttributeHandle
    /// The last handle that may hold a descriptor of this characteristic.
    public let endHandle: AttributeHandle
    public let properties: CharacteristicProperties

    /// Where its descriptors stand.
    var descriptorRange: AttributeHandleRange? {
        guard valueHandle < endHandle else { return nil }
        return AttributeHandleRange(AttributeHandle(rawValue: valueHandle.rawValue + 1), endHandle)
    }
}

/// A descriptor of a peer's characteristic.
public struct Descriptor: Hashable, Sendable {
    public let uuid: BluetoothUUID
    public let handle: AttributeHandle
}

/// A service with everything in it.
public struct ServiceContents: Hashable, Sendable {
    public struct CharacteristicContents: Hashable, Sendable {
        public var characteristic: Characteristic
        public var descriptors: [Descriptor]
    }

    public var service: Service
    public var includedServices: [IncludedService]
    public var characteristics: [CharacteristicContents]
}
