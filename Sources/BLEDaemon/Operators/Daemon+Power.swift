@_spi(HostRunner) import BLE
import BLEHost

/// The switch of operators (SPEC SPR-30).
extension Daemon {
    /// Why there is no controller, for people.
    static let powerIsOff = "Bluetooth is off; an operator turns it on with ‘bletool power on’"

    /// Switches Bluetooth off, so that all links end and the controller is released, or on.
    func setPower(_ isOn: Bool) {
        guard isOn != isPowered else { return }
        isPowered = isOn
        if isOn {
            configuration.log("Bluetooth is switched on")
            // If the engine still stops, it is opened again when its end is reported.
            openController()
        } else {
            wasSwitched = true
            controllerIsLost(Self.powerIsOff)
            if runner.isOpen { _ = runner.submit(.stop) }
        }
    }
}
