import BLETransport
import Glibc

/// An open device: its file, and libusb's hold of it. Used by one thread at a time.
@safe
final class USBHandle {
    let device: USBBluetoothDevice
    let pointer: OpaquePointer
    private let descriptor: Int32
    private var takeover: USBTakeover?
    private var isOpen = true

    /// Opens the file of a device.
    /// - Throws: `TransportError.usb`.
    init(_ device: USBBluetoothDevice) throws(TransportError) {
        if let reason = unsafe cusb_load() {
            throw .usb(.libraryMissing(unsafe String(cString: reason)))
        }
        self.device = device
        descriptor = unsafe open(device.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .usb(.notOpened(device, code: errno)) }
        var made: OpaquePointer?
        let result = unsafe cusb_open(descriptor, &made)
        guard result == 0, let made = unsafe made else {
            Glibc.close(descriptor)
            throw .usb(.refused(device, "open", result))
        }
        unsafe pointer = made
    }

    deinit { close(isGone: false) }

    /// Takes the controller from the kernel's driver.
    /// - Throws: `TransportError.usb`; then nothing is taken.
    func take() throws(TransportError) {
        var value: Int32 = 0
        guard unsafe cusb_configuration(pointer, &value) == 0 else {
            throw .usb(.refused(device, "read the configuration of", LibraryError.inputOutput))
        }
        var takeover = USBTakeover(device.function, activeConfiguration: UInt8(truncatingIfNeeded: value))
        while let step = takeover.next {
            let result = perform(step)
            let outcome: USBTakeover.Outcome =
                if result == 0 { .done } else if step.isDetaching, result == LibraryError.notFound {
                    .notNeeded
                } else { .failed }
            if !takeover.ended(outcome) {
                for step in takeover.undoing { _ = perform(step) }
                throw .usb(
                    result == LibraryError.busy
                        ? .busy(device, HoldingProcesses.withOpenFile(device.path))
                        : .refused(device, step.verb, result))
            }
        }
        self.takeover = takeover
    }

    /// Resets the device, as unplugging it would. It takes some hundred milliseconds.
    /// - Returns: 0, or libusb's number of an error: `LibraryError.notFound` if the device has come back as another one.
    func reset() -> Int32 { unsafe cusb_reset(pointer) }

    /// Gives the device back. All transfers must have ended.
    /// - Parameter isGone: whether the device was unplugged.
    func close(isGone: Bool) {
        guard isOpen else { return }
        isOpen = false
        if !isGone { for step in takeover?.undoing ?? [] { _ = perform(step) } }
        unsafe cusb_close(pointer)
        Glibc.close(descriptor)
    }

    private func perform(_ step: USBTakeover.Step) -> Int32 {
        switch step {
        case .setConfiguration(let value): unsafe cusb_set_configuration(pointer, Int32(value))
        case .detachDriver(let interface): unsafe cusb_detach_kernel_driver(pointer, Int32(interface))
        case .claim(let interface): unsafe cusb_claim(pointer, Int32(interface))
        case .release(let interface): unsafe cusb_release(pointer, Int32(interface))
        case .attachDriver(let interface): unsafe cusb_attach_kernel_driver(pointer, Int32(interface))
        }
    }
}

extension USBTakeover.Step {
    fileprivate var isDetaching: Bool { if case .detachDriver = self { true } else { false } }

    fileprivate var verb: String {
        switch self {
        case .setConfiguration: "configure"
        case .detachDriver: "take from the kernel's driver"
        case .claim: "claim"
        case .release: "release"
        case .attachDriver: "give back"
        }
    }
}
