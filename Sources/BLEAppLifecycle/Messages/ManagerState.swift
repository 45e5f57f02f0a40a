/// `CBManagerState` (SPEC 2.1); a greater state allows more.
public enum ManagerState: Int, Hashable, Comparable, Sendable {
    /// The state is not known yet; another state follows soon.
    case unknown = 0
    /// The controller is being reset.
    case resetting = 1
    /// No controller supports LE.
    case unsupported = 2
    /// The user does not allow this app to use Bluetooth.
    case unauthorized = 3
    /// Bluetooth is off, or its controller is missing.
    case poweredOff = 4
    /// Bluetooth is on.
    case poweredOn = 5

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// `CBManagerAuthorization` (SPEC 2.1).
public enum ManagerAuthorization: Int, Hashable, Sendable {
    /// The user has not been asked.
    case notDetermined = 0
    /// The user may not allow it.
    case restricted = 1
    /// The user does not allow it.
    case denied = 2
    /// The user allows it.
    case allowedAlways = 3
}

/// `CBPeripheralState` (SPEC 2.1).
public enum PeripheralState: Int, Hashable, Sendable {
    /// Not connected.
    case disconnected = 0
    /// Connecting.
    case connecting = 1
    /// The link can be used.
    case connected = 2
    /// The link is being ended.
    case disconnecting = 3
}
