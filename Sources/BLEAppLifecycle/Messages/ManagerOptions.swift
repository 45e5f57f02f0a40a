import BLEPackets

/// The options of a new manager, central or peripheral (SPEC CEN-1, PER-1, SPR-1).
public struct ManagerOptions: Hashable, Sendable {
    /// The name under which the manager is preserved; `nil` if it is not preserved (SPEC SPR-1).
    public var restoreIdentifier: String?
    /// Whether the user is alerted when Bluetooth is off.
    public var showsPowerAlert: Bool
    /// Whether the same process had this manager before its system was restarted. Nothing is restored to it; services
    /// and advertising that it requests again take the place of those that were preserved.
    public var continues: Bool
    /// What the app says about the overflow area of its advertisements; `nil`: nothing.
    public var overflow: OverflowSetting?

    public init(
        restoreIdentifier: String? = nil, showsPowerAlert: Bool = false, continues: Bool = false,
        overflow: OverflowSetting? = nil
    ) {
        self.restoreIdentifier = restoreIdentifier
        self.showsPowerAlert = showsPowerAlert
        self.continues = continues
        self.overflow = overflow
    }
}

/// The options of a scan (SPEC CEN-4, CEN-27).
public struct ScanOptions: Hashable, Codable, Sendable {
    /// The services to scan for; empty for every device.
    public var services: [BluetoothUUID]
    /// Whether every packet is reported, instead of each device once (SPEC CEN-27).
    public var allowsDuplicates: Bool
    /// Devices that solicit one of these services are reported too.
    public var solicitedServices: [BluetoothUUID]

    public init(
        services: [BluetoothUUID] = [], allowsDuplicates: Bool = false, solicitedServices: [BluetoothUUID] = []
    ) {
        self.services = services
        self.allowsDuplicates = allowsDuplicates
        self.solicitedServices = solicitedServices
    }
}

/// The options of a connection (SPEC ALR-1 to ALR-3, 2.3).
public struct ConnectOptions: Hashable, Codable, Sendable {
    /// Whether the user is alerted when the link is established while the app is suspended (SPEC ALR-1).
    public var notifiesOnConnection: Bool
    /// Whether the user is alerted when the link ends while the app is suspended (SPEC ALR-2).
    public var notifiesOnDisconnection: Bool
    /// Whether the user is alerted to every notification while the app is suspended (SPEC ALR-3).
    public var notifiesOnNotification: Bool
    /// How long to wait before connecting.
    public var startDelayMilliseconds: Int64
    /// Whether a lost link is restored automatically.
    public var reconnectsAutomatically: Bool

    public init(
        notifiesOnConnection: Bool = false, notifiesOnDisconnection: Bool = false,
        notifiesOnNotification: Bool = false, startDelayMilliseconds: Int64 = 0, reconnectsAutomatically: Bool = false
    ) {
        self.notifiesOnConnection = notifiesOnConnection
        self.notifiesOnDisconnection = notifiesOnDisconnection
        self.notifiesOnNotification = notifiesOnNotification
        self.startDelayMilliseconds = startDelayMilliseconds
        self.reconnectsAutomatically = reconnectsAutomatically
    }
}

/// The connection events that a manager receives, whichever app connects: those of the given peers and of peers with
/// one of the services; if both are empty, none (SPEC 2.3 registerForConnectionEvents).
public struct ConnectionEventFilter: Hashable, Sendable {
    /// The devices.
    public var peripherals: [PeerIdentifier]
    /// Services of which a device must have at least one.
    public var services: [BluetoothUUID]

    public init(peripherals: [PeerIdentifier] = [], services: [BluetoothUUID] = []) {
        self.peripherals = peripherals
        self.services = services
    }
}
