/// What a manager can do just now (SPEC CEN-3, 2.1).
public enum CBManagerState: Int, Sendable {
    /// Not known yet; an update is under way.
    case unknown = 0
    /// The connection with the controller was lost; an update is under way.
    case resetting = 1
    /// There is no controller that knows Bluetooth Low Energy.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// The controller is off or absent.
    case poweredOff = 4
    /// All commands are taken.
    case poweredOn = 5
}

/// Whether the app may use Bluetooth (SPEC 2.1).
public enum CBManagerAuthorization: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case allowedAlways = 3
}

@available(*, deprecated, renamed: "CBManagerState")
public typealias CBCentralManagerState = CBManagerState

@available(*, deprecated, renamed: "CBManagerState")
public typealias CBPeripheralManagerState = CBManagerState

/// The older form of `CBManagerAuthorization`.
@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorized = 3
}
