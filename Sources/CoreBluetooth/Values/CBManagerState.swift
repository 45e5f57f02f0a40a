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
    /// Never comes up here: nobody is asked, the manifest decides.
    case notDetermined = 0
    /// The manifest says `"authorization": "restricted"`; managers are `.unauthorized`.
    case restricted = 1
    /// The manifest says `"authorization": "denied"`; managers are `.unauthorized`.
    case denied = 2
    /// The app may use Bluetooth, as every app may whose manifest says nothing else.
    case allowedAlways = 3
}

/// The name that the states of central managers had first (SPEC CEN-3).
@available(*, deprecated, renamed: "CBManagerState")
public typealias CBCentralManagerState = CBManagerState

/// The name that the states of peripheral managers had first (SPEC CEN-3).
@available(*, deprecated, renamed: "CBManagerState")
public typealias CBPeripheralManagerState = CBManagerState

/// The older form of `CBManagerAuthorization`.
@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    /// As `CBManagerAuthorization.notDetermined`: never comes up here.
    case notDetermined = 0
    /// As `CBManagerAuthorization.restricted`.
    case restricted = 1
    /// As `CBManagerAuthorization.denied`.
    case denied = 2
    /// As `CBManagerAuthorization.allowedAlways`.
    case authorized = 3
}
