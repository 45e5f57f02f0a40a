import BLEPackets

/// One row of the attribute table (Core 5.4, Vol 3, Part F, 3.2).
struct Attribute: Equatable, Sendable {
    /// Where the value comes from.
    enum Value: Equatable, Sendable {
        /// Kept here, the same for every client.
        case stored([UInt8])
        /// Known only to the app, which is asked at each access (SPEC PER-3).
        case dynamic
        /// Kept here, separately for each client (Core 5.4, Vol 3, Part G, 3.3.3.3).
        case clientConfiguration(ClientConfiguration)
        /// Kept in the server's table of broadcasts, the same for every client (Core 5.4, Vol 3, Part G, 3.3.3.4).
        case serverConfiguration
        /// Kept here, separately for each client (Core 5.4, Vol 3, Part G, 7.2).
        case clientSupportedFeatures
        /// A digest that the owner computes (Core 5.4, Vol 3, Part G, 7.3).
        case databaseHash
    }

    struct ClientConfiguration: Equatable, Sendable {
        /// The characteristic value whose changes are sent.
        var valueHandle: AttributeHandle
        /// The modes that the characteristic offers; if the configuration is strict, no others can be set.
        var allowed: SubscriptionModes
        /// The modes before a client writes the configuration.
        var initial: SubscriptionModes
        /// Whether values of another length than two octets and modes that are not allowed are refused.
        var isStrict: Bool
    }

    let handle: AttributeHandle
    let type: BluetoothUUID
    var permissions: AttributePermissions
    /// The smallest key size in octets; only checked if the permissions require encryption.
    var minimumKeySize: UInt8 = 0
    var value: Value
    /// The last attribute of the group that begins here; the attribute itself if no group begins here.
    var groupEnd: AttributeHandle
    /// The client configuration that belongs to a characteristic value; zero if there is none.
    var configuration: AttributeHandle = .none
    var owner: ClientID

    init(
        handle: AttributeHandle, type: BluetoothUUID, permissions: AttributePermissions, value: Value,
        owner: ClientID = .local
    ) {
        self.handle = handle
        self.type = type
        self.permissions = permissions
        self.value = value
        self.groupEnd = handle
        self.owner = owner
    }

    var isServiceDeclaration: Bool { type == .primaryService || type == .secondaryService }
    /// Whether it describes the table and has no value of an app (Core 5.4, Vol 3, Part G, 3.1 to 3.3.1).
    var isDeclaration: Bool { isServiceDeclaration || type == .include || type == .characteristic }
}

/// How a client wants to be sent changes of a value (Core 5.4, Vol 3, Part G, 3.3.3.3).
public struct SubscriptionModes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bit 0: the value is sent without confirmation.
    public static let notifications = SubscriptionModes(rawValue: 0x0001)
    /// Bit 1: the value is sent and the client confirms it.
    public static let indications = SubscriptionModes(rawValue: 0x0002)
    static let all: SubscriptionModes = [.notifications, .indications]
}

extension BluetoothUUID {
    static let genericAccess = BluetoothUUID(UInt16(0x1800))
    static let genericAttribute = BluetoothUUID(UInt16(0x1801))
    static let characteristicExtendedProperties = BluetoothUUID(UInt16(0x2900))
    static let characteristicUserDescription = BluetoothUUID(UInt16(0x2901))
    static let serverCharacteristicConfiguration = BluetoothUUID(UInt16(0x2903))
    static let characteristicPresentationFormat = BluetoothUUID(UInt16(0x2904))
    static let characteristicAggregateFormat = BluetoothUUID(UInt16(0x2905))
    static let centralAddressResolution = BluetoothUUID(UInt16(0x2AA6))
    static let deviceName = BluetoothUUID(UInt16(0x2A00))
    static let appearance = BluetoothUUID(UInt16(0x2A01))
    static let serviceChanged = BluetoothUUID(UInt16(0x2A05))
    static let clientSupportedFeatures = BluetoothUUID(UInt16(0x2B29))
    static let databaseHash = BluetoothUUID(UInt16(0x2B2A))
    static let serverSupportedFeatures = BluetoothUUID(UInt16(0x2B3A))
}
