import BLEPackets

/// A service of a simulated device.
public struct SimulatedService: Sendable {
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// Whether it means something by itself, and not only in the services that include it.
    public var isPrimary: Bool
    /// UUIDs of services of the same device, each standing for the first that has it.
    public var includedServices: [BluetoothUUID]
    /// In the order of their handles.
    public var characteristics: [SimulatedCharacteristic]
    /// Where the service begins; `nil` for behind the one before it. Ignored where it would overlap.
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

/// What may be done with a characteristic (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct SimulatedProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may be sent in advertisements; the simulator sends none.
    public static let broadcast = SimulatedProperties(rawValue: 0x01)
    /// The value can be read.
    public static let read = SimulatedProperties(rawValue: 0x02)
    /// The value can be written, and nobody answers.
    public static let writeWithoutResponse = SimulatedProperties(rawValue: 0x04)
    /// The value can be written, and the device answers.
    public static let write = SimulatedProperties(rawValue: 0x08)
    /// The device can send the value without confirmation.
    public static let notify = SimulatedProperties(rawValue: 0x10)
    /// The device can send the value and waits for a confirmation.
    public static let indicate = SimulatedProperties(rawValue: 0x20)
    /// The value can be written with a signature.
    public static let authenticatedSignedWrites = SimulatedProperties(rawValue: 0x40)
    /// A descriptor says more.
    public static let extendedProperties = SimulatedProperties(rawValue: 0x80)
}

/// Who may read and write an attribute. A device encrypts with those who hold one of its `longTermKeys`.
public struct SimulatedPermissions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading, by anybody.
    public static let read = SimulatedPermissions(rawValue: 0x01)
    /// Writing, by anybody.
    public static let write = SimulatedPermissions(rawValue: 0x02)
    /// Reading needs encryption: Insufficient Encryption (0x0F).
    public static let readEncrypted = SimulatedPermissions(rawValue: 0x04)
    /// Writing needs encryption: Insufficient Encryption (0x0F).
    public static let writeEncrypted = SimulatedPermissions(rawValue: 0x08)
    /// Reading needs authentication: Insufficient Authentication (0x05).
    public static let readAuthenticated = SimulatedPermissions(rawValue: 0x10)
    /// Writing needs authentication: Insufficient Authentication (0x05).
    public static let writeAuthenticated = SimulatedPermissions(rawValue: 0x20)
}

/// A characteristic of a simulated device.
public struct SimulatedCharacteristic: Sendable {
    /// What kind of characteristic it is.
    public var uuid: BluetoothUUID
    /// What its declaration says.
    public var properties: SimulatedProperties
    /// Who may do what with the value.
    public var permissions: SimulatedPermissions
    /// What it holds at first, at most 512 octets.
    public var value: [UInt8]
    /// Octets that a write may leave in the value, 512 at most.
    public var maximumLength: Int
    /// Descriptors besides the client characteristic configuration, which is there where the properties need it.
    public var descriptors: [SimulatedDescriptor]

    /// Gives the value of the first read, the second, and so on, instead of `value`.
    public var readValue: (@Sendable (_ count: Int) -> [UInt8])?
    /// Every read is answered with this error.
    public var readError: ATTError?
    /// Every write is answered with this error.
    public var writeError: ATTError?
    /// Looks at a value before it is written; an error refuses it.
    public var refuse: (@Sendable (_ value: [UInt8]) -> ATTError?)?
    /// A subscriber gets a value at this distance; 1 ms at least, `nil` for only when it is told to.
    public var notifyEveryMicroseconds: Int64?
    /// Gives the first notified value after a subscription, the second, and so on, instead of `value`.
    public var notifiedValue: (@Sendable (_ count: Int) -> [UInt8])?
    /// A written value is sent to the subscriber.
    public var notifiesWrites: Bool

    /// - Parameter permissions: `nil` for what the properties say.
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
    /// What kind of descriptor it is.
    public var uuid: BluetoothUUID
    /// What it holds at first, at most 512 octets.
    public var value: [UInt8]
    /// Who may do what with it.
    public var permissions: SimulatedPermissions

    public init(_ uuid: BluetoothUUID, value: [UInt8], permissions: SimulatedPermissions = .read) {
        self.uuid = uuid
        self.value = value
        self.permissions = permissions
    }
}
