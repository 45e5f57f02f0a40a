import BLELinux
import Glibc

/// Opens serial ports for H4 and restores their settings afterwards.
enum SerialPort {
    /// A receiver reads bits correctly while both clocks together are off by at most 5 %: half of that is this side's
    /// share.
    private static let toleratedBaudError = 0.025

    enum Parity: Int32 {
        case none = 0
        case even = 1
    }

    static func open(
        _ device: String, baud: UInt32, hasFlowControl: Bool, parity: Parity = .none
    ) throws(TransportError) -> sending (descriptor: Int32, cleanUp: (Int32) -> Void) {
        let descriptor = unsafe Glibc.open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw nameOpenError(errno, device) }
        do throws(TransportError) {
            let settings = try claim(descriptor, device: device)
            var configured = false
            defer { if !configured { giveBack(descriptor, settings) } }
            var actualBaud: UInt32 = 0
            guard
                unsafe clinux_serial_configure(
                    descriptor, baud, hasFlowControl ? 1 : 0, parity.rawValue, &actualBaud) == 0
            else {
                let code = errno
                guard code == EINVAL else { throw .system(call: "TCSETS2", code: code) }
                throw .unsupportedBaud(device, requested: baud, nearest: actualBaud)
            }
            guard isNear(actualBaud, baud) else {
                throw .unsupportedBaud(device, requested: baud, nearest: actualBaud)
            }
            // What a controller sent to the previous program belongs to no packet of this one.
            _ = clinux_serial_flush(descriptor)
            configured = true
            return (descriptor, { giveBack($0, settings) })
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Changes the speed of an open port. What was written before must have been sent.
    /// - Returns: whether the port has this speed.
    static func setBaud(_ baud: UInt32, of descriptor: Int32, hasFlowControl: Bool, parity: Parity) -> Bool {
        var actualBaud: UInt32 = 0
        let result = unsafe clinux_serial_configure(
            descriptor, baud, hasFlowControl ? 1 : 0, parity.rawValue, &actualBaud)
        return result == 0 && isNear(actualBaud, baud)
    }

    private static func isNear(_ actual: UInt32, _ wanted: UInt32) -> Bool {
        abs(Double(actual) - Double(wanted)) <= Double(wanted) * toleratedBaudError
    }

    /// Makes sure that no other process reads from the port, and returns its settings.
    private static func claim(_ descriptor: Int32, device: String) throws(TransportError) -> CLinuxSerialSettings {
        var settings = CLinuxSerialSettings()
        guard unsafe clinux_serial_read_settings(descriptor, &settings) == 0 else { throw .notASerialPort(device) }
        guard clinux_serial_is_kernel_hci(descriptor) == 0 else { throw .serialPortBusy(device, holders: []) }
        // The kernel's claim does not stop root: programs that share a port also lock it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, clinux_serial_claim(descriptor) == 0 else {
            throw .serialPortBusy(device, holders: HoldingProcesses.withOpenFile(device))
        }
        return settings
    }

    private static func giveBack(_ descriptor: Int32, _ settings: CLinuxSerialSettings) {
        var settings = settings
        _ = unsafe clinux_serial_restore_settings(descriptor, &settings)
        _ = clinux_serial_release(descriptor)
        // Closing the descriptor is not enough: a child that was forked at this moment still has the lock.
        flock(descriptor, LOCK_UN)
    }

    private static func nameOpenError(_ code: Int32, _ device: String) -> TransportError {
        switch code {
        case ENOENT, ENOTDIR, ENXIO, ENODEV: .pathNotFound(device)
        case EACCES, EPERM: .pathForbidden(device)
        case EBUSY: .serialPortBusy(device, holders: HoldingProcesses.withOpenFile(device))
        case EISDIR: .notASerialPort(device)
        default: .system(call: "open", code: code)
        }
    }
}
