import BLEHost
import BLEPackets

/// A service of a peer (SPEC MOD-4).
public struct Service: Hashable, Sendable {
    /// The type of the service.
    public let uuid: BluetoothUUID
    /// From the declaration to the last attribute.
    public let range: AttributeHandleRange
    /// Whether the service is primary; a secondary one has a meaning only inside services that include it.
    public let isPrimary: Bool

    /// Makes one that an earlier connection discovered.
    public init(uuid: BluetoothUUID, range: AttributeHandleRange, isPrimary: Bool) {
        self.uuid = uuid
        self.range = range
        self.isPrimary = isPrimary
    }
}

/// A service that another one includes.
public struct IncludedService: Hashable, Sendable {
    /// The handle of the include declaration.
    public let handle: AttributeHandle
    /// The service that is included.
    public let service: Service

    /// Makes one that an earlier connection discovered.
    public init(handle: AttributeHandle, service: Service) {
        self.handle = handle
        self.service = service
    }
}

/// A characteristic of a peer's service (SPEC MOD-5).
public struct Characteristic: Hashable, Sendable {
    /// The type of the characteristic.
    public let uuid: BluetoothUUID
    /// The handle of the declaration.
    public let handle: AttributeHandle
    /// The handle of the value, to read, write and subscribe to.
    public let valueHandle: AttributeHandle
    /// The last handle that a descriptor of this characteristic may have.
    public let endHandle: AttributeHandle
    /// What the declaration allows.
    public let properties: CharacteristicProperties

    /// Makes one that an earlier connection discovered.
    public init(
        uuid: BluetoothUUID, handle: AttributeHandle, valueHandle: AttributeHandle, endHandle: AttributeHandle,
        properties: CharacteristicProperties
    ) {
        self.uuid = uuid
        self.handle = handle
        self.valueHandle = valueHandle
        self.endHandle = endHandle
        self.properties = properties
    }

    /// The handles that descriptors may have.
    var descriptorRange: AttributeHandleRange? {
        guard valueHandle < endHandle else { return nil }
        return AttributeHandleRange(AttributeHandle(rawValue: valueHandle.rawValue + 1), endHandle)
    }
}

/// A descriptor of a peer's characteristic.
public struct Descriptor: Hashable, Sendable {
    /// The type of the descriptor.
    public let uuid: BluetoothUUID
    /// The handle to read and write.
    public let handle: AttributeHandle

    /// Makes one that an earlier connection discovered.
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}

/// A service with all its contents.
public struct ServiceContents: Hashable, Sendable {
    /// A characteristic with its descriptors.
    public struct CharacteristicContents: Hashable, Sendable {
        /// The characteristic itself.
        public var characteristic: Characteristic
        /// In the order of their handles.
        public var descriptors: [Descriptor]

        public init(characteristic: Characteristic, descriptors: [Descriptor]) {
            self.characteristic = characteristic
            self.descriptors = descriptors
        }
    }

    /// The service itself.
    public var service: Service
    /// In the order of their handles.
    public var includedServices: [IncludedService]
    /// In the order of their handles.
    public var characteristics: [CharacteristicContents]

    public init(
        service: Service, includedServices: [IncludedService] = [], characteristics: [CharacteristicContents] = []
    ) {
        self.service = service
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}
