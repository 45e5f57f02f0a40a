import BLEPackets

/// A service of a simulated device.
public struct SimulatedService: Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether the service is primary; a secondary one has a meaning only inside services that include it.
    public var isPrimary: Bool
    /// The UUIDs of included services of the same device; each refers to the first service with it.
    public var includedServices: [BluetoothUUID]
    /// In the order of their handles.
    public var characteristics: [SimulatedCharacteristic]
    /// The first handle of the service; `nil` for the next free one. Ignored if the service would overlap another one.
    public var startHandle: UInt16?

    public init(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, includedServices: [BluetoothUUID] = [],
        characteristics: [SimulatedCharacteristic] = [], startHandle: UInt16? = nil
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
        self.startHandle = startHandle
    }
}

/// The properties of a characteristic (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct SimulatedProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may be sent in advertisements; the simulator sends none.
    public static let broadcast = SimulatedProperties(rawValue: 0x01)
    /// The value can be read.
    public static let read = SimulatedProperties(rawValue: 0x02)
    /// The value can be written without a response.
    public static let writeWithoutResponse = SimulatedProperties(rawValue: 0x04)
    /// The value can be written with a response.
    public static let write = SimulatedProperties(rawValue: 0x08)
    /// The device can notify the value.
    public static let notify = SimulatedProperties(rawValue: 0x10)
    /// The device can indicate the value.
    public static let indicate = SimulatedProperties(rawValue: 0x20)
    /// The value can be written with a signature.
    public static let authenticatedSignedWrites = SimulatedProperties(rawValue: 0x40)
    /// A descriptor has more properties.
    public static let extendedProperties = SimulatedProperties(rawValue: 0x80)
}

/// The permissions of an attribute. A central can encrypt the link if it has one of the device's `longTermKeys`.
public struct SimulatedPermissions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading by every central.
    public static let read = SimulatedPermissions(rawValue: 0x01)
    /// Writing by every central.
    public static let write = SimulatedPermissions(rawValue: 0x02)
    /// Reading requires encryption; otherwise Insufficient Encryption (0x0F).
    public static let readEncrypted = SimulatedPermissions(rawValue: 0x04)
    /// Writing requires encryption; otherwise Insufficient Encryption (0x0F).
    public static let writeEncrypted = SimulatedPermissions(rawValue: 0x08)
    /// Reading requires authentication; otherwise Insufficient Authentication (0x05).
    public static let readAuthenticated = SimulatedPermissions(rawValue: 0x10)
    /// Writing requires authentication; otherwise Insufficient Authentication (0x05).
    public static let writeAuthenticated = SimulatedPermissions(rawValue: 0x20)
}

/// A characteristic of a simulated device.
public struct SimulatedCharacteristic: Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// The properties in its declaration.
    public var properties: SimulatedProperties
    /// The permissions of the value.
    public var permissions: SimulatedPermissions
    /// The initial value, at most 512 octets.
    public var value: [UInt8]
    /// The maximum length of the value after a write, at most 512 octets.
    public var maximumLength: Int
    /// The descriptors, except the client characteristic configuration, which exists if the properties require it.
    public var descriptors: [SimulatedDescriptor]
    /// Whether there is the client characteristic configuration that the properties require. Without it the device
    /// violates the specification, and sends values to everyone who is connected.
    public var hasConfiguration = true

    /// Whether the characteristic has a client characteristic configuration.
    var isConfigurable: Bool { hasConfiguration && !properties.isDisjoint(with: [.notify, .indicate]) }

    /// Supplies the value of the first read, the second, and so on, instead of `value`.
    public var readValue: (@Sendable (_ count: Int) -> [UInt8])?
    /// How long a read waits for its response, in microseconds; it is never shorter than that of the device.
    public var readDelayMicroseconds: Int64 = 0
    /// The error of every read; `nil` for none.
    public var readError: ATTError?
    /// The error of every write; `nil` for none.
    public var writeError: ATTError?
    /// Checks a value before it is written; an error refuses it.
    public var refuse: (@Sendable (_ value: [UInt8]) -> ATTError?)?
    /// The interval between values for a subscriber, in microseconds, at least 1 ms; `nil` for values on demand only.
    public var notifyEveryMicroseconds: Int64?
    /// Supplies the first notified value after a subscription, the second, and so on, instead of `value`.
    public var notifiedValue: (@Sendable (_ count: Int) -> [UInt8])?
    /// Whether a written value is sent to the subscriber.
    public var notifiesWrites: Bool

    /// - Parameter permissions: `nil` for the permissions that the properties imply.
    public init(
        _ uuid: BluetoothUUID, _ properties: SimulatedProperties, value: [UInt8] = [],
        permissions: SimulatedPermissions? = nil, maximumLength: Int = 512, descriptors: [SimulatedDescriptor] = [],
        notifyEveryMicroseconds: Int64? = nil, notifiedValue: (@Sendable (_ count: Int) -> [UInt8])? = nil,
        readValue: (@Sendable (_ count: Int) -> [UInt8])? = nil, readError: ATTError? = nil,
        writeError: ATTError? = nil, notifiesWrites: Bool = false,
        refuse: (@Sendable (_ value: [UInt8]) -> ATTError?)? = nil
    ) {
        self.uuid = uuid
        self.properties = properties
        var derived: SimulatedPermissions = []
        if properties.contains(.read) { derived.insert(.read) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { derived.insert(.write) }
        self.permissions = permissions ?? derived
        self.value = value
        self.maximumLength = maximumLength
        self.descriptors = descriptors
        self.notifyEveryMicroseconds = notifyEveryMicroseconds
        self.notifiedValue = notifiedValue
        self.readValue = readValue
        self.readError = readError
        self.writeError = writeError
        self.notifiesWrites = notifiesWrites
        self.refuse = refuse
    }
}

/// A descriptor of a simulated characteristic.
public struct SimulatedDescriptor: Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// The initial value, at most 512 octets.
    public var value: [UInt8]
    /// The permissions of the descriptor.
    public var permissions: SimulatedPermissions

    public init(_ uuid: BluetoothUUID, value: [UInt8], permissions: SimulatedPermissions = .read) {
        self.uuid = uuid
        self.value = value
        self.permissions = permissions
    }
}
