import BLETransport
import Glibc

/// The words of what can go wrong with a USB device.
extension USBFailure {
    /// Where packages of this project put the rule that lets users open Bluetooth controllers.
    static let rule = "60-jelling-usb.rules"

    static func libraryMissing(_ reason: String) -> USBFailure {
        USBFailure(
            .libraryMissing, "libusb cannot be used: \(reason)",
            remedy: "install it (‘apt install libusb-1.0-0’), or use the kernel's adapter (user:N)")
    }

    /// - Parameter isThere: whether it is plugged in, but has no Bluetooth controller.
    static func missing(_ selector: USBSelector, isThere: Bool, present: [USBBluetoothDevice]) -> USBFailure {
        let others =
            present.isEmpty
            ? "no Bluetooth controller is plugged in"
            : "there is " + present.map(\.text).joined(separator: ", ")
        guard !isThere else {
            return USBFailure(.unsuitable, "the USB device \(selector) is not a Bluetooth controller: \(others)")
        }
        let wanted = selector == .first ? "" : "there is no USB device \(selector): "
        return USBFailure(
            .deviceMissing, wanted + others, remedy: present.isEmpty ? "plug one in, and see ‘lsusb’" : nil)
    }

    /// Its file could not be opened.
    static func notOpened(_ device: USBBluetoothDevice, code: Int32) -> USBFailure {
        switch code {
        case EACCES, EPERM:
            USBFailure(
                .forbidden, "no permission to open the USB device \(device.text), ‘\(device.path)’",
                remedy:
                    "copy the rule \(rule) to /etc/udev/rules.d, run ‘udevadm control --reload’ and plug the device "
                    + "in again, or run as root")
        case ENOENT, ENODEV, ENXIO: .removed(device)
        default: USBFailure(.failed, "opening the USB device \(device.text) failed: error \(code)")
        }
    }

    static func busy(_ device: USBBluetoothDevice, _ holders: [HoldingProcess]) -> USBFailure {
        USBFailure(
            .busy,
            "the USB device \(device.text) is busy: "
                + (holders.isEmpty
                    ? "another process has claimed it"
                    : "\(holders.map(\.description).joined(separator: ", ")) has it"),
            remedy: holders.isEmpty ? "stop that process (run as root to see which one it is)" : "stop it first")
    }

    static func removed(_ device: USBBluetoothDevice) -> USBFailure {
        USBFailure(.removed, "the USB device \(device.text) disappeared: it was unplugged or reset")
    }

    /// A request of libusb failed.
    static func refused(_ device: USBBluetoothDevice, _ verb: String, _ result: Int32) -> USBFailure {
        if result == LibraryError.noDevice { return .removed(device) }
        let name = unsafe String(cString: cusb_error_name(result))
        return USBFailure(
            .failed, "could not \(verb) the USB device \(device.text): \(name)", remedy: "plug it in again")
    }

    /// Transfers to or from the device failed.
    static func transfersFailed(_ device: USBBluetoothDevice, _ what: String) -> USBFailure {
        USBFailure(.failed, "the USB device \(device.text) \(what)", remedy: "plug it in again")
    }
}
