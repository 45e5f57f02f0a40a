import BLEHost
import BLEPackets

/// How a manager is made: the options of both initialisers (SPEC CEN-1, PER-1, SPR-1).
public struct ManagerOptions: Hashable, Codable, Sendable {
    /// The name under which the manager is preserved; `nil` for one that is not (SPEC SPR-1).
    public var restoreIdentifier: String?
    /// Whether the user is alerted when Bluetooth is off.
    public var showsPowerAlert: Bool

    public init(restoreIdentifier: String? = nil, showsPowerAlert: Bool = false) {
        self.restoreIdentifier = restoreIdentifier
        self.showsPowerAlert = showsPowerAlert
    }
}

/// The options of a scan (SPEC CEN-4, CEN-27).
public struct ScanOptions: Hashable, Codable, Sendable {
    /// The services to scan for; empty for every device.
    public var services: [BluetoothUUID]
    /// Whether every packet is reported instead of every device once (SPEC CEN-27).
    public var allowsDuplicates: Bool
    /// Devices that look for one of these are reported too.
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
    /// Whether the user is alerted when the link is made while the app is suspended (SPEC ALR-1).
    public var notifiesOnConnection: Bool
    /// Whether the user is alerted when the link ends while the app is suspended (SPEC ALR-2).
    public var notifiesOnDisconnection: Bool
    /// Whether the user is alerted to every notification while the app is suspended (SPEC ALR-3).
    public var notifiesOnNotification: Bool
    /// How long to wait before the connection is sought.
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

/// The connections of which an app is notified, made by any app: those to the named peers or to peers with one of the
/// services; without either, none (SPEC 2.3 registerForConnectionEvents).
public struct ConnectionEventFilter: Hashable, Codable, Sendable {
    /// Devices that are named.
    public var peripherals: [PeerIdentifier]
    /// Services of which a device has to have one.
    public var services: [BluetoothUUID]

    public init(peripherals: [PeerIdentifier] = [], services: [BluetoothUUID] = []) {
        self.peripherals = peripherals
        self.services = services
    }
}
