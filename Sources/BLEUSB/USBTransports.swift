import BLETransport

/// Adds `usb` to the transports of a program:
///
///     configuration.makeVirtualTransport = USBTransports.adding(to: VirtualTransports.open)
public enum USBTransports {
    /// What opens USB devices, and everything else with `others`.
    public static func adding(
        to others: @escaping @Sendable (TransportAddress) throws(TransportError) -> sending any HCITransport
    ) -> @Sendable (TransportAddress) throws(TransportError) -> sending any HCITransport {
        { (address) throws(TransportError) in
            guard case .usb = address else { return try others(address) }
            return try USBTransport.open(address)
        }
    }

    /// Resets a USB device on its bus, for `AdapterConfiguration.resetDevice`; anything else is left to `others`.
    public static func resetting(
        or others: @escaping @Sendable (TransportAddress) -> Void = { _ in }
    ) -> @Sendable (TransportAddress) -> Void {
        { address in
            guard case .usb = address else { return others(address) }
            // Opening it again tells what is wrong.
            try? USBTransport.reset(address)
        }
    }

    /// The device that an address means, before it is opened; `nil` if none is plugged in, or several that differ.
    public static func device(at address: TransportAddress) -> USBBluetoothDevice? {
        guard case .usb(let selector) = address else { return nil }
        let devices = USBDeviceList().devices(selector)
        let isOneKind = Set(devices.map { [$0.vendor, $0.product, $0.release] }).count == 1
        return isOneKind ? devices[0] : nil
    }
}
