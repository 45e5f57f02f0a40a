import BLEPackets

/// A complete service that an app publishes: `CBMutableService` (SPEC MOD-4, PER-6).
public struct LocalService: Hashable, Codable, Sendable {
    /// The identifier of the service for the app and the system.
    public var id: LocalAttributeID
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether the service is primary; a secondary one has a meaning only inside services that include it.
    public var isPrimary: Bool
    /// Services that are already published.
    public var includedServices: [LocalAttributeID]
    /// In the order of their future handles.
    public var characteristics: [LocalCharacteristic]

    public init(
        id: LocalAttributeID, uuid: BluetoothUUID, isPrimary: Bool = true, includedServices: [LocalAttributeID] = [],
        characteristics: [LocalCharacteristic] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

extension LocalService {
    /// The attributes that it takes at most: per characteristic its declaration and value, the client's configuration,
    /// the extended properties, and the list of several formats.
    var attributeCount: Int {
        1 + includedServices.count
            + characteristics.reduce(0) { $0 + 4 + $1.descriptors.count + ($1.descriptors.count > 1 ? 1 : 0) }
    }

    /// Whether another service has the same content under other identifiers.
    func hasContent(of other: LocalService) -> Bool {
        uuid == other.uuid && isPrimary == other.isPrimary && includedServices.isEmpty
            && other.includedServices.isEmpty && characteristics.count == other.characteristics.count
            && zip(characteristics, other.characteristics).allSatisfy { $0.hasContent(of: $1) }
    }
}

extension LocalCharacteristic {
    fileprivate func hasContent(of other: LocalCharacteristic) -> Bool {
        uuid == other.uuid && properties == other.properties && permissions == other.permissions
            && value == other.value && descriptors.map(\.uuid) == other.descriptors.map(\.uuid)
            && descriptors.map(\.value) == other.descriptors.map(\.value)
    }
}

/// `CBMutableCharacteristic` (SPEC PER-2 to PER-5).
public struct LocalCharacteristic: Hashable, Codable, Sendable {
    /// The identifier of the characteristic for the app and the system.
    public var id: LocalAttributeID
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// `CBCharacteristicProperties`, with 0x100 and 0x200 for encrypted notification and indication (SPEC 2.1).
    public var properties: UInt16
    /// `CBAttributePermissions` (SPEC 2.1).
    public var permissions: UInt8
    /// The fixed value; `nil` for a value that the app supplies on request (SPEC PER-3).
    public var value: [UInt8]?
    /// The descriptors, except those that the system adds itself.
    public var descriptors: [LocalDescriptor]

    public init(
        id: LocalAttributeID, uuid: BluetoothUUID, properties: UInt16, permissions: UInt8, value: [UInt8]? = nil,
        descriptors: [LocalDescriptor] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
    }
}

/// `CBMutableDescriptor`.
public struct LocalDescriptor: Hashable, Codable, Sendable {
    /// The identifier of the descriptor for the app and the system.
    public var id: LocalAttributeID
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// The fixed value, at most 512 octets.
    public var value: [UInt8]

    public init(id: LocalAttributeID, uuid: BluetoothUUID, value: [UInt8]) {
        self.id = id
        self.uuid = uuid
        self.value = value
    }
}

/// The content of an app's advertising (SPEC PER-8, PER-10).
public struct AdvertisementRequest: Hashable, Codable, Sendable {
    /// `CBAdvertisementDataLocalNameKey`.
    public var localName: String?
    /// `CBAdvertisementDataServiceUUIDsKey`.
    public var serviceUUIDs: [BluetoothUUID]
    /// Keys of the dictionary that an app may not set: a single one makes the request fail.
    public var unsupportedKeys: [String]

    public init(localName: String? = nil, serviceUUIDs: [BluetoothUUID] = [], unsupportedKeys: [String] = []) {
        self.localName = localName
        self.serviceUUIDs = serviceUUIDs
        self.unsupportedKeys = unsupportedKeys
    }
}
