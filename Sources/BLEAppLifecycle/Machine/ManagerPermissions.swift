import BLEHost

/// What a manager may do: Bluetooth is on or off, its app is in the foreground, in the background, or has no process
/// (SPEC 5.4). All commands of a manager depend on it.
struct ManagerPermissions: Equatable {
    enum Place: Equatable {
        case foreground
        /// - Parameter hasMode: whether the app declared the background mode of the manager's role.
        case background(hasMode: Bool)
        /// The app has no process; the manager continues as if its app were in the background.
        case preserved
    }

    var state: ManagerState
    var place: Place
    /// Whether the controller advertises, for any manager.
    var isAdvertising = false
    /// Whether the manager's advertisement sends the overflow area.
    var overflow = AdvertisingPackerSettings.OverflowEmission.off

    var isOn: Bool { state == .poweredOn }
    var isPreserved: Bool { place == .preserved }
    var isInBackground: Bool { place != .foreground }

    /// Whether the manager scans and advertises, and its services can be accessed.
    var isActive: Bool {
        switch place {
        case .foreground, .preserved: true
        case .background(let hasMode): hasMode
        }
    }
}
