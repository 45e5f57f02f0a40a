import BLEPackets

/// A service that another one includes.
public struct IncludedService: Hashable, Sendable {
    /// The handle of the include declaration.
    public let handle: AttributeHandle
    /// The service that is included.
    public let service: DiscoveredService

    /// Makes one that an earlier connection discovered.
    public init(handle: AttributeHandle, service: DiscoveredService) {
        self.handle = handle
        self.service = service
    }
}

/// A service with all its contents.
public struct ServiceContents: Hashable, Sendable {
    /// A characteristic with its descriptors.
    public struct CharacteristicContents: Hashable, Sendable {
        /// The characteristic itself.
        public var characteristic: DiscoveredCharacteristic
        /// In the order of their handles.
        public var descriptors: [DiscoveredDescriptor]

        public init(characteristic: DiscoveredCharacteristic, descriptors: [DiscoveredDescriptor]) {
            self.characteristic = characteristic
            self.descriptors = descriptors
        }
    }

    /// The service itself.
    public var service: DiscoveredService
    /// In the order of their handles.
    public var includedServices: [IncludedService]
    /// In the order of their handles.
    public var characteristics: [CharacteristicContents]

    public init(
        service: DiscoveredService, includedServices: [IncludedService] = [],
        characteristics: [CharacteristicContents] = []
    ) {
        self.service = service
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}
