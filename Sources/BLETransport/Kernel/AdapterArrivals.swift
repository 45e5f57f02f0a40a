import BLELinux
import Glibc

/// Reports the adapters that the kernel adds, such as one that is plugged in, through its management interface (BlueZ,
/// doc/mgmt-api.txt: Index Added Event). It needs no permission.
public final class AdapterArrivals {
    private let descriptor: Int32
    private var registration: EventLoop.Registration?

    /// Index Added Event.
    private static let indexAdded: UInt16 = 0x0004

    /// - Parameter report: called on the loop with the index of each adapter.
    /// - Throws: `TransportError.noBluetoothInKernel`, or `system`.
    public init(on loop: EventLoop, report: @escaping (UInt16) -> Void) throws(TransportError) {
        descriptor = try AdapterList.openSocket()
        guard clinux_hci_bind(descriptor, HCIChannel.noAdapter, HCIChannel.control) == 0 else {
            let code = errno
            close(descriptor)
            throw .system(call: "bind", code: code)
        }
        do throws(TransportError) {
            registration = try loop.register(descriptor, for: .readable) { [weak self] _ in
                while let self, let index = nextEvent() {
                    if let index { report(index) }
                }
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

    /// - Returns: the index of an adapter that was added; `.some(nil)` for another event, `nil` if none waits.
    private func nextEvent() -> UInt16?? {
        // Event and index, two octets each and least significant first; the rest does not matter.
        var head = [UInt8](repeating: 0, count: 6)
        let count = unsafe recv(descriptor, &head, head.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return nil }
        guard count >= 4, UInt16(head[0]) | UInt16(head[1]) << 8 == Self.indexAdded else { return .some(nil) }
        return UInt16(head[2]) | UInt16(head[3]) << 8
    }
}
