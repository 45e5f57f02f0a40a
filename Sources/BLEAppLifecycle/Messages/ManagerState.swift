/// `CBManagerState` (SPEC 2.1); the greater, the more can be done.
public enum ManagerState: Int, Hashable, Comparable, Codable, Sendable {
    case unknown = 0
    case resetting = 1
    case unsupported = 2
    case unauthorized = 3
    case poweredOff = 4
    case poweredOn = 5

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// `CBManagerAuthorization` (SPEC 2.1).
public enum ManagerAuthorization: Int, Hashable, Codable, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case allowedAlways = 3
}

/// `CBPeripheralState` (SPEC 2.1).
public enum PeripheralState: Int, Hashable, Codable, Sendable {
    case disconnected = 0
    case connecting = 1
    case connected = 2
    case disconnecting = 3
}
