import BLE
import BLEAppState
import BLEJSON
import BLEText

/// What `dev` prints of the device behind an adapter.
struct DeviceOutput {
    private let hardware: AdapterHardware
    private let adapter: KernelAdapter

    init(_ hardware: AdapterHardware, _ adapter: KernelAdapter) { (self.hardware, self.adapter) = (hardware, adapter) }

    private var family: ControllerFamily? { hardware.usb.flatMap { ControllerFamily(ControllerIdentity($0)) } }

    var members: [(String, JSONValue)] {
        [
            ("lowEnergy", adapter.hasLowEnergy.map { .boolean($0) } ?? .null), ("chip", JSONValue(family?.name)),
            ("usb", JSONValue(hardware.usb?.identifiers)), ("usbRelease", JSONValue(hardware.usb?.releaseText)),
            ("port", JSONValue(hardware.place)), ("driver", JSONValue(hardware.driver)),
            ("autosuspend", hardware.power.map { .boolean($0.mayBeSuspended) } ?? .null),
            ("blocked", hardware.block.map { .boolean($0.isBlocked) } ?? .null),
        ]
    }

    /// What is known and worth a word.
    var texts: [String] {
        var texts: [String] = []
        if adapter.hasLowEnergy == false { texts.append("no LE") }
        if let usb = hardware.usb { texts.append(usb.identifiers + " (" + usb.releaseText + ")") }
        if let name = family?.name ?? hardware.usb?.productName { texts.append(name.printable) }
        if let place = hardware.place { texts.append("port:\(place)") }
        if let driver = hardware.driver { texts.append(driver) }
        if hardware.power?.mayBeSuspended == true { texts.append("autosuspend") }
        if let block = hardware.block, block.isBlocked {
            texts.append(block.isHard ? "blocked by a switch" : "blocked by rfkill")
        }
        return texts
    }
}
