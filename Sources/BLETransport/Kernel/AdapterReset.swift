import BLELinux
import Glibc

/// Resets the device behind an adapter, which takes the adapter away and brings it back, perhaps under another number.
///
/// On the user channel the kernel does not do this: the timers with which its drivers notice a controller that hangs run
/// for its own stack only (Linux, net/bluetooth/hci_core.c, cmd_timer).
public enum AdapterReset {
    /// Resets a USB device. It blocks until the kernel has the device again, which may take seconds.
    /// - Parameters:
    ///   - device: as sysfs described it a moment ago; another device that has its number now is not reset.
    ///   - devices: the folder of USB devices.
    /// - Throws: `AdapterResetError`.
    public static func resetUSB(
        _ device: AdapterHardware.USBDevice, devices: String = "/dev/bus/usb"
    ) throws(AdapterResetError) {
        guard device.otherDrivers.isEmpty else { throw .hasOtherFunctions(device.otherDrivers) }
        let path = "\(devices)/\(threeDigits(device.bus))/\(threeDigits(device.device))"
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else {
            let code = errno
            switch code {
            case ENOENT, ENODEV, ENXIO: throw .noDeviceFile(path)
            case EACCES, EPERM, EROFS: throw .permissionDenied(path)
            default: throw .system(call: "open", code: code)
            }
        }
        defer { close(descriptor) }
        // The file begins with the descriptor of the device (Universal Serial Bus 2.0, 9.6.1).
        var octets = [UInt8](repeating: 0, count: 18)
        guard unsafe read(descriptor, &octets, octets.count) == octets.count, octets[0] == 18, octets[1] == 1,
            number(octets, at: 8) == device.vendor, number(octets, at: 10) == device.product,
            number(octets, at: 12) == device.release
        else { throw .anotherDevice(path) }
        guard clinux_usb_reset(descriptor) == 0 else {
            let code = errno
            switch code {
            case EACCES, EPERM: throw .permissionDenied(path)
            // It went while it was being reset, and may come back by itself.
            case ENODEV, ESHUTDOWN: throw .deviceGone
            default: throw .system(call: "USBDEVFS_RESET", code: code)
            }
        }
    }

    /// Switches the radio of an adapter off and on by its own rfkill switch, which closes and opens its driver. The user
    /// channel of the adapter must be closed: the kernel refuses it otherwise.
    /// - Throws: `AdapterResetError`.
    public static func cycleSwitch(
        ofAdapter index: UInt16, device: String = RadioSwitches.device, root: String = "/sys"
    ) throws(AdapterResetError) {
        guard let number = RadioSwitches.number(ofAdapter: index, root: root) else { throw .noSwitch(index: index) }
        do throws(TransportError) {
            try RadioSwitches.set(number, isBlocked: true, device: device)
            try RadioSwitches.set(number, isBlocked: false, device: device)
        } catch {
            switch error {
            case .pathForbidden(let path): throw .permissionDenied(path)
            case .pathNotFound: throw .noSwitch(index: index)
            case .system(let call, let code): throw .system(call: call, code: code)
            default: throw .noSwitch(index: index)
            }
        }
    }

    private static func number(_ octets: [UInt8], at place: Int) -> UInt16 {
        UInt16(octets[place]) | UInt16(octets[place + 1]) << 8
    }

    private static func threeDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
    }
}

/// Why a device could not be reset.
public enum AdapterResetError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The USB device has no file.
    case noDeviceFile(String)
    /// The file of the device, or that of rfkill, must not be written.
    case permissionDenied(String)
    /// The device is more than an adapter, and these drivers use the rest.
    case hasOtherFunctions([String])
    /// Another device has taken the number of the one that was to be reset.
    case anotherDevice(String)
    /// The device has gone, and may come back.
    case deviceGone
    /// The adapter has no rfkill switch.
    case noSwitch(index: UInt16)
    /// A system call failed with an error that has no case here.
    case system(call: String, code: Int32)

    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String {
        switch self {
        case .noDeviceFile(let path): "‘\(path)’ does not exist; a container must be given /dev/bus/usb"
        case .permissionDenied(let path):
            "no permission to write ‘\(path)’; run as root, or let a udev rule give this user the device (for USB: "
                + "SUBSYSTEM==\"usb\", ATTR{bDeviceClass}==\"e0\", GROUP=\"jelling\", MODE=\"0660\"), and name it in "
                + "DeviceAllow= of a systemd unit"
        case .hasOtherFunctions(let drivers):
            "the USB device has other functions (\(drivers.joined(separator: ", "))), which a reset would end"
        case .anotherDevice(let path): "‘\(path)’ is another device now"
        case .deviceGone: "the device has gone"
        case .noSwitch(let index): "hci\(index) has no rfkill switch"
        case .system(let call, let code): "\(call) failed: \(describeSystemError(code))"
        }
    }
}
