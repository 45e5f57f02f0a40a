import BLEPackets

/// A service as an app publishes it (SPEC MOD-4, MOD-10, PER-6).
public struct GATTServiceDefinition: Equatable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether the service is useful by itself, and not only as part of services that include it.
    public var isPrimary: Bool
    /// The first handles of services that are already published.
    public var includedServices: [AttributeHandle]
    /// In the order in which they get their handles.
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
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// The properties in the declaration; an app cannot set `extendedProperties` (SPEC PER-4).
    ///
    /// With `broadcast` the server adds a Server Characteristic Configuration, by which a client, for all clients, has
    /// the value sent as service data of the service whenever this device advertises (Core 5.4, Vol 3, Part G, 2.7 and
    /// 3.3.3.4): `value` or, if there is none, the last one given to `ServerCommand.updateValue` for all links.
    public var properties: CharacteristicProperties
    /// The permissions of the value; an access must be allowed by both properties and permissions (SPEC PER-2).
    public var permissions: AttributePermissions
    /// A value that never changes and that the server answers without the app, at most 512 octets; `nil` if the app is
    /// asked at each access (SPEC PER-3).
    public var value: [UInt8]?
    /// Descriptors in addition to those that the server adds itself: configurations, extended properties, and, for
    /// several presentation formats (2904), the aggregate format (2905) that lists them.
    public var descriptors: [GATTDescriptorDefinition]
    /// The value of the Extended Properties descriptor, which is added if this is not empty.
    public var extendedProperties: CharacteristicExtendedProperties
    /// Whether subscribing needs an encrypted link even if reading the value does not (SPEC SEC-1, 2.1).
    public var needsEncryptionToSubscribe: Bool
    /// The smallest key size in octets if the permissions require encryption, up to 16; 0 for any.
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

/// A descriptor as an app publishes it, except those that the server stores itself.
public struct GATTDescriptorDefinition: Equatable, Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// The permissions of the value.
    public var permissions: AttributePermissions
    /// The value, at most 512 octets; `nil` if the app is asked at each access.
    public var value: [UInt8]?

    public init(uuid: BluetoothUUID, permissions: AttributePermissions = .readable, value: [UInt8]?) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
    }
}

/// The bits of the Extended Properties descriptor (Core 5.4, Vol 3, Part G, 3.3.3.1).
public struct CharacteristicExtendedProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Reliable writes are allowed (Core 5.4, Vol 3, Part G, 4.9.5).
    public static let reliableWrite = CharacteristicExtendedProperties(rawValue: 0x0001)
    /// The user description can be written.
    public static let writableAuxiliaries = CharacteristicExtendedProperties(rawValue: 0x0002)
}

/// The handles of a published service; they stay the same until it is removed.
public struct GATTPublishedService: Equatable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// From the declaration, whose handle identifies the service, to its last attribute.
    public var range: AttributeHandleRange
    /// In the order of the definition.
    public var characteristics: [GATTPublishedCharacteristic]
    /// The client that published it.
    public var owner: ClientID

    public init(
        uuid: BluetoothUUID, isPrimary: Bool, range: AttributeHandleRange,
        characteristics: [GATTPublishedCharacteristic], owner: ClientID
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.range = range
        self.characteristics = characteristics
        self.owner = owner
    }
}

/// The handles of a published characteristic.
public struct GATTPublishedCharacteristic: Equatable, Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// The handle of its declaration.
    public var declaration: AttributeHandle
    /// The handle of its value, which identifies it in requests and updates.
    public var valueHandle: AttributeHandle
    /// The handle of its Client Characteristic Configuration; zero if clients cannot subscribe.
    public var configuration: AttributeHandle
    /// The handles of the descriptors of the definition, in its order.
    public var descriptors: [AttributeHandle]

    public init(
        uuid: BluetoothUUID, declaration: AttributeHandle, valueHandle: AttributeHandle,
        configuration: AttributeHandle, descriptors: [AttributeHandle]
    ) {
        self.uuid = uuid
        self.declaration = declaration
        self.valueHandle = valueHandle
        self.configuration = configuration
        self.descriptors = descriptors
    }
}

/// One attribute of a table that is given as a list of attributes.
public struct RawAttribute: Equatable, Sendable {
    /// Its handle; the handles of a table must be in ascending order.
    public var handle: AttributeHandle
    /// The attribute type.
    public var type: BluetoothUUID
    /// The permissions of the value.
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
    /// The service is one that the stack publishes itself, or one of Apple's system (SPEC 2.4:
    /// `CBError.uuidNotAllowed`).
    case uuidNotAllowed(BluetoothUUID)
    /// The properties contain `extendedProperties` (SPEC PER-4).
    case propertyNotAllowed(BluetoothUUID)
    /// The server has this descriptor itself.
    case descriptorNotAllowed(BluetoothUUID)
    /// A value that never changes has a property or permission that allows changes (SPEC PER-3).
    case cachedValueNotReadOnly(BluetoothUUID)
    /// The value is longer than 512 octets.
    case valueTooLong(BluetoothUUID)
    /// An included service is not published (SPEC 2.4).
    case includedServiceUnknown(AttributeHandle)
    /// No handles are left.
    case outOfHandles
    /// There is no such service, or it cannot be removed.
    case unknownService(AttributeHandle)
    /// Another service includes this one and must go first (SPEC 2.4).
    case isIncluded(AttributeHandle, by: AttributeHandle)
    /// The handles of a list of attributes are not in ascending order, or one of them is zero.
    case handlesOutOfOrder(AttributeHandle)
}
