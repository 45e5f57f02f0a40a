/// What apps know as the state of Bluetooth: the controller, and the user's switch.
struct BluetoothState {
    /// Whether the controller can be used.
    enum ControllerState: Equatable { case starting, resetting, failed, ready }

    var controller = ControllerState.starting
    var isPowered = true
    /// Whether the controller advertises, for any manager.
    var isAdvertising = false

    /// The state that the managers of an app see.
    func state(isAllowed: Bool) -> ManagerState {
        switch controller {
        case .failed: .unsupported
        // While Bluetooth is off, the controller may be released.
        case .starting where isPowered: .unknown
        case .resetting where isPowered: .resetting
        case .starting, .resetting, .ready: !isAllowed ? .unauthorized : isPowered ? .poweredOn : .poweredOff
        }
    }
}
