/// The state of a manager: what it can do now (SPEC CEN-3, 2.1).
public enum CBManagerState: Int, Sendable {
    /// The state is not known yet; an update follows soon.
    case unknown = 0
    /// The connection to the controller was lost; an update follows soon.
    case resetting = 1
    /// No controller supports Bluetooth Low Energy.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// The controller is off or absent.
    case poweredOff = 4
    /// Bluetooth is on: the manager accepts all commands.
    case poweredOn = 5
}

/// Whether the app may use Bluetooth (SPEC 2.1).
public enum CBManagerAuthorization: Int, Sendable {
    /// Never used here: the manifest decides, and the user is not asked.
    case notDetermined = 0
    /// The manifest says `"authorization": "restricted"`; managers are `.unauthorized`.
    case restricted = 1
    /// The manifest says `"authorization": "denied"`; managers are `.unauthorized`.
    case denied = 2
    /// The app may use Bluetooth; the default if the manifest does not say otherwise.
    case allowedAlways = 3
}

/// The older form of `CBManagerAuthorization`.
@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    /// Equals `CBManagerAuthorization.notDetermined`: never used here.
    case notDetermined = 0
    /// Equals `CBManagerAuthorization.restricted`.
    case restricted = 1
    /// Equals `CBManagerAuthorization.denied`.
    case denied = 2
    /// Equals `CBManagerAuthorization.allowedAlways`.
    case authorized = 3
}
