/// What a manager may do as things stand: Bluetooth on or off, its app in front, behind, or without a process
/// (SPEC 5.4). Everything that a manager asks of the engine follows from it.
struct Standing: Equatable {
    enum Place: Equatable {
        case foreground
        /// - Parameter hasMode: whether the app declared the background mode of the manager's role.
        case background(hasMode: Bool)
        /// No process holds the manager; it goes on as if its app were in the background.
        case preserved
    }

    var state: ManagerState
    var place: Place
    /// Whether the controller advertises, for any manager.
    var isAdvertising = false

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
