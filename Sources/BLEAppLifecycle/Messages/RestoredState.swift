/// The state of a central manager when its app ended (SPEC SPR-C1 to SPR-C3, SPR-12).
public struct RestoredCentral: Hashable, Sendable {
    /// Connected or connecting peripherals, in the order of the app's requests.
    public var peripherals: [RestoredRemotePeripheral]
    /// The scan; `nil` if there was none.
    public var scan: ScanOptions?

    public init(peripherals: [RestoredRemotePeripheral] = [], scan: ScanOptions? = nil) {
        self.peripherals = peripherals
        self.scan = scan
    }
}

/// A remote peripheral with the attributes and subscriptions of the app (SPEC SPR-15).
public struct RestoredRemotePeripheral: Hashable, Sendable {
    /// The device, connected or connecting.
    public var description: PeripheralDescription
    /// The discovered services; `nil` before discovery.
    public var services: [RemoteService]?
    /// The longest writes.
    public var writeLimits: WriteLimits

    public init(description: PeripheralDescription, services: [RemoteService]?, writeLimits: WriteLimits) {
        self.description = description
        self.services = services
        self.writeLimits = writeLimits
    }
}

/// The state of a peripheral manager when its app ended (SPEC SPR-P1 to SPR-P3, SPR-36).
public struct RestoredPeripheral: Hashable, Sendable {
    /// The centrals that were subscribed to one characteristic.
    public struct Subscription: Hashable, Codable, Sendable {
        /// The characteristic.
        public var characteristic: LocalAttributeID
        /// In the order in which they subscribed.
        public var centrals: [CentralDescription]

        public init(characteristic: LocalAttributeID, centrals: [CentralDescription]) {
            self.characteristic = characteristic
            self.centrals = centrals
        }
    }

    /// In the order in which they were published.
    public var services: [LocalService]
    /// The subscriptions, by characteristic (SPEC SPR-36).
    public var subscriptions: [Subscription]
    /// The advertising; `nil` if there was none.
    public var advertisement: AdvertisementRequest?

    public init(services: [LocalService], subscriptions: [Subscription], advertisement: AdvertisementRequest?) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertisement = advertisement
    }
}
