import BLEHost
import BLEPackets

/// A service of a peer (SPEC MOD-4).
public typealias Service = DiscoveredService

/// A characteristic of a peer's service (SPEC MOD-5).
public typealias Characteristic = DiscoveredCharacteristic

/// A descriptor of a peer's characteristic.
public typealias Descriptor = DiscoveredDescriptor

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
