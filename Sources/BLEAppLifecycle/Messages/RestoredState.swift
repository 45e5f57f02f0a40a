import BLEHost
import BLEPackets

/// What a central manager was at when its app ended (SPEC SPR-C1 to SPR-C3, SPR-12).
public struct RestoredCentral: Hashable, Codable, Sendable {
    /// Connected or connecting, in the order in which the app asked for them.
    public var peripherals: [RestoredRemotePeripheral]
    /// `nil` where it did not scan.
    public var scan: ScanOptions?

    public init(peripherals: [RestoredRemotePeripheral] = [], scan: ScanOptions? = nil) {
        self.peripherals = peripherals
        self.scan = scan
    }
}

/// A remote peripheral with what the app had discovered and subscribed to (SPEC SPR-15).
public struct RestoredRemotePeripheral: Hashable, Codable, Sendable {
    /// The device, connected or connecting.
    public var description: PeripheralDescription
    /// `nil` where nothing was discovered.
    public var services: [RemoteService]?
    /// How long its writes may be.
    public var writeLimits: WriteLimits

    public init(description: PeripheralDescription, services: [RemoteService]?, writeLimits: WriteLimits) {
        self.description = description
        self.services = services
        self.writeLimits = writeLimits
    }
}

/// What a peripheral manager was at when its app ended (SPEC SPR-P1 to SPR-P3, SPR-36).
public struct RestoredPeripheral: Hashable, Codable, Sendable {
    /// Who had subscribed to one characteristic.
    public struct Subscription: Hashable, Codable, Sendable {
        /// What they are sent.
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
    /// Who had subscribed, by characteristic (SPEC SPR-36).
    public var subscriptions: [Subscription]
    /// `nil` where it did not advertise.
    public var advertisement: AdvertisementRequest?

    public init(services: [LocalService], subscriptions: [Subscription], advertisement: AdvertisementRequest?) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertisement = advertisement
    }
}
