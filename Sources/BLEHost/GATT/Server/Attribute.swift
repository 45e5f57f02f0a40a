import BLEPackets

/// One row of the attribute table (Core 5.4, Vol 3, Part F, 3.2).
struct Attribute: Equatable, Sendable {
    /// Where the value comes from.
    enum Value: Equatable, Sendable {
        /// Held here, for every client alike.
        case stored([UInt8])
        /// Known to the app alone, which is asked for each access (SPEC PER-3).
        case dynamic
        /// Held here, for each client its own (Core 5.4, Vol 3, Part G, 3.3.3.3).
        case clientConfiguration(ClientConfiguration)
        /// Held here, for each client its own (Core 5.4, Vol 3, Part G, 7.2).
        case clientSupportedFeatures
        /// A digest that the owner computes (Core 5.4, Vol 3, Part G, 7.3).
        case databaseHash
    }

    struct ClientConfiguration: Equatable, Sendable {
        /// The characteristic's value, whose changes are told.
        var valueHandle: AttributeHandle
        /// The modes that the characteristic offers; no others can be set where the configuration is strict.
        var allowed: SubscriptionModes
        /// What stands in it before a client writes.
        var initial: SubscriptionModes
        /// Whether other lengths than two octets and other bits than the allowed ones are refused.
        var isStrict: Bool
    }

    let handle: AttributeHandle
    let type: BluetoothUUID
    var permissions: AttributePermissions
    /// Octets that the key of an encrypted link must have; only asked where the permissions ask for encryption.
    var minimumKeySize: UInt8 = 0
    var value: Value
    /// The last attribute of the group that begins here; the attribute itself where none does.
    var groupEnd: AttributeHandle
    /// The client configuration of a characteristic's value; zero where there is none.
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
    /// Whether it says what there is, and holds no value of an app (Core 5.4, Vol 3, Part G, 3.1 to 3.3.1).
    var isDeclaration: Bool { isServiceDeclaration || type == .include || type == .characteristic }
}

/// How a client wants to hear of changes (Core 5.4, Vol 3, Part G, 3.3.3.3).
public struct SubscriptionModes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bit 0: the value is sent without confirmation.
    public static let notifications = SubscriptionModes(rawValue: 0x0001)
    /// Bit 1: the value is sent and confirmed.
    public static let indications = SubscriptionModes(rawValue: 0x0002)
    static let all: SubscriptionModes = [.notifications, .indications]
}

#if !hasFeature(Embedded)
extension SubscriptionModes: Codable {}
#endif

extension BluetoothUUID {
    static let genericAccess = BluetoothUUID(UInt16(0x1800))
    static let genericAttribute = BluetoothUUID(UInt16(0x1801))
    static let characteristicExtendedProperties = BluetoothUUID(UInt16(0x2900))
    static let characteristicUserDescription = BluetoothUUID(UInt16(0x2901))
    static let serverCharacteristicConfiguration = BluetoothUUID(UInt16(0x2903))
    static let characteristicAggregateFormat = BluetoothUUID(UInt16(0x2905))
    static let deviceName = BluetoothUUID(UInt16(0x2A00))
    static let appearance = BluetoothUUID(UInt16(0x2A01))
    static let serviceChanged = BluetoothUUID(UInt16(0x2A05))
    static let clientSupportedFeatures = BluetoothUUID(UInt16(0x2B29))
    static let databaseHash = BluetoothUUID(UInt16(0x2B2A))
}
