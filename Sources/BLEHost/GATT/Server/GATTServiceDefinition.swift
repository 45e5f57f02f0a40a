import BLEPackets

/// A service as an app publishes it (SPEC MOD-4, MOD-10, PER-6).
public struct GATTServiceDefinition: Equatable, Sendable {
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// Whether the service means something by itself, and not only in the services that include it.
    public var isPrimary: Bool
    /// The first handles of services that are published already.
    public var includedServices: [AttributeHandle]
    /// In the order of their handles to be.
    public var characteristics: [GATTCharacteristicDefinition]

    public init(
        uuid: BluetoothUUID, isPrimary: Bool = true, includedServices: [AttributeHandle] = [],
        characteristics: [GATTCharacteristicDefinition] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// A characteristic as an app publishes it (SPEC PER-2 to PER-5).
public struct GATTCharacteristicDefinition: Equatable, Sendable {
    /// What kind of characteristic it is.
    public var uuid: BluetoothUUID
    /// What the declaration says; `broadcast` and `extendedProperties` cannot be set by an app (SPEC PER-4).
    public var properties: CharacteristicProperties
    /// A value can be read or written where both properties and permissions allow it (SPEC PER-2).
    public var permissions: AttributePermissions
    /// A value that never changes and is answered without the app; `nil` for one that the app is asked for each time
    /// (SPEC PER-3).
    public var value: [UInt8]?
    /// Besides those that the server adds itself.
    public var descriptors: [GATTDescriptorDefinition]
    /// What an Extended Properties descriptor says, which is added where this is not empty.
    public var extendedProperties: CharacteristicExtendedProperties
    /// Whether only an encrypted link can subscribe (SPEC SEC-1, 2.1).
    public var needsEncryptionToSubscribe: Bool
    /// The smallest key size in octets, where permissions require encryption; 0 for any.
    public var minimumKeySize: UInt8

    public init(
        uuid: BluetoothUUID, properties: CharacteristicProperties, permissions: AttributePermissions,
        value: [UInt8]? = nil, descriptors: [GATTDescriptorDefinition] = [],
        extendedProperties: CharacteristicExtendedProperties = [], needsEncryptionToSubscribe: Bool = false,
        minimumKeySize: UInt8 = 0
    ) {
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
        self.extendedProperties = extendedProperties
        self.needsEncryptionToSubscribe = needsEncryptionToSubscribe
        self.minimumKeySize = minimumKeySize
    }
}

/// A descriptor as an app publishes it: any but those that the server keeps itself.
public struct GATTDescriptorDefinition: Equatable, Sendable {
    /// What kind of descriptor it is.
    public var uuid: BluetoothUUID
    /// Who may do what with the value.
    public var permissions: AttributePermissions
    /// `nil` where the app is asked for each access.
    public var value: [UInt8]?

    public init(uuid: BluetoothUUID, permissions: AttributePermissions = .readable, value: [UInt8]?) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
    }
}

/// What the Extended Properties descriptor says (Core 5.4, Vol 3, Part G, 3.3.3.1).
public struct CharacteristicExtendedProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether prepared writes are taken (Core 5.4, Vol 3, Part G, 4.9.5).
    public static let reliableWrite = CharacteristicExtendedProperties(rawValue: 0x0001)
    /// Whether the user description can be written.
    public static let writableAuxiliaries = CharacteristicExtendedProperties(rawValue: 0x0002)
}

#if !hasFeature(Embedded)
extension GATTServiceDefinition: Codable {}
extension GATTCharacteristicDefinition: Codable {}
extension GATTDescriptorDefinition: Codable {}
extension CharacteristicExtendedProperties: Codable {}
#endif

/// The handles of a published service; they stay the same until it is removed.
public struct GATTPublishedService: Equatable, Sendable {
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// Whether it means something by itself.
    public var isPrimary: Bool
    /// From the declaration, by which the service is known, to its last attribute.
    public var range: AttributeHandleRange
    /// In the order of the definition.
    public var characteristics: [GATTPublishedCharacteristic]
    /// Who published it.
    public var owner: ClientID
}

/// Where a characteristic found its place.
public struct GATTPublishedCharacteristic: Equatable, Sendable {
    /// What kind of characteristic it is.
    public var uuid: BluetoothUUID
    /// The handle of its declaration.
    public var declaration: AttributeHandle
    /// The handle of its value, by which it is known in questions and updates.
    public var valueHandle: AttributeHandle
    /// Zero where clients cannot subscribe.
    public var configuration: AttributeHandle
    /// Those of the definition, in its order.
    public var descriptors: [AttributeHandle]
}

/// One attribute of a table that is given as it is.
public struct RawAttribute: Equatable, Sendable {
    /// Its place in the table; handles ascend.
    public var handle: AttributeHandle
    /// What kind of attribute it is.
    public var type: BluetoothUUID
    /// Who may do what with it.
    public var permissions: AttributePermissions
    /// Up to 512 octets, the same for every client.
    public var value: [UInt8]

    public init(handle: AttributeHandle, type: BluetoothUUID, permissions: AttributePermissions, value: [UInt8]) {
        self.handle = handle
        self.type = type
        self.permissions = permissions
        self.value = value
    }
}

/// Why a service could not be published or removed (SPEC PER-6).
public enum GATTPublishError: Error, Equatable, Sendable {
    /// A service that the stack keeps itself, or Apple's system does (SPEC 2.4: `CBError.uuidNotAllowed`).
    case uuidNotAllowed(BluetoothUUID)
    /// `broadcast` or `extendedProperties` (SPEC PER-4).
    case propertyNotAllowed(BluetoothUUID)
    /// A descriptor that the server keeps itself.
    case descriptorNotAllowed(BluetoothUUID)
    /// A value that never changes, with a property or permission that lets it change (SPEC PER-3).
    case cachedValueNotReadOnly(BluetoothUUID)
    /// A value of more than 512 octets.
    case valueTooLong(BluetoothUUID)
    /// An included service is not published (SPEC 2.4).
    case includedServiceUnknown(AttributeHandle)
    /// The handles are used up.
    case outOfHandles
    /// There is no such service, or it is none that can be removed.
    case unknownService(AttributeHandle)
    /// Another service includes this one and must go first (SPEC 2.4).
    case isIncluded(AttributeHandle, by: AttributeHandle)
    /// A flat list whose handles do not ascend, or hold zero.
    case handlesOutOfOrder(AttributeHandle)
}
