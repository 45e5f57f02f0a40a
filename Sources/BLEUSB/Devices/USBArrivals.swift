import BLETransport
import Glibc

/// Reports USB devices that are plugged in, as the kernel says it itself (Linux, lib/kobject_uevent.c). It needs neither udev
/// nor a permission. Permissions of the device may be set a moment later.
public final class USBArrivals {
    private let descriptor: Int32
    private var registration: EventLoop.Registration?

    /// Longer than the kernel makes them.
    private static let messageByteCount = 8192

    /// - Parameter report: called on the loop when a device has come, once for all that came together.
    /// - Throws: `TransportError.system` if the kernel offers no such messages.
    public init(on loop: EventLoop, report: @escaping () -> Void) throws(TransportError) {
        descriptor = cusb_open_device_events()
        guard descriptor >= 0 else { throw .system(call: "socket", code: -descriptor) }
        do throws(TransportError) {
            registration = try loop.register(descriptor, for: .readable) { [weak self] _ in
                if self?.hasArrival() ?? false { report() }
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Ends the reports. Call it on the loop.
    public func cancel() {
        registration?.cancel()
        registration = nil
    }

    /// Reads what is there.
    private func hasArrival() -> Bool {
        var isFound = false
        var message = [UInt8](repeating: 0, count: Self.messageByteCount)
        while true {
            let count = unsafe recv(descriptor, &message, message.count, Int32(MSG_DONTWAIT))
            // Too many at once: some were lost, perhaps the one that matters.
            if count < 0, errno == ENOBUFS {
                isFound = true
                continue
            }
            guard count > 0 else { return isFound }
            if Self.isArrival(message[..<count]) { isFound = true }
        }
    }

    /// Whether a message says that a device, and not only an interface, was added: texts that each end with a zero octet.
    static func isArrival(_ message: ArraySlice<UInt8>) -> Bool {
        let fields = message.split(separator: 0)
        return fields.contains { $0.elementsEqual("ACTION=add".utf8) }
            && fields.contains { $0.elementsEqual("DEVTYPE=usb_device".utf8) }
    }
}
