import BLETransport

/// A USB device with a Bluetooth controller, as the kernel lists it.
public struct USBBluetoothDevice: Hashable, Sendable {
    /// Where it is plugged in: bus, hyphen, ports (`1-2.3`).
    public let port: String
    /// The vendor's id.
    public let vendor: UInt16
    /// The vendor's number of the product.
    public let product: UInt16
    /// The release of the device in binary-coded decimal (`bcdDevice`).
    public let release: UInt16
    /// What the device calls itself; others have written it.
    public let name: String?
    /// The kernel's driver that has the controller; `nil`: none. `usbfs` is a program.
    public let driver: String?
    /// The kernel's adapter that the driver has made of it, such as `hci0`.
    public let adapter: String?
    /// The file through which programs reach the device.
    public let path: String

    let function: BluetoothFunction
    let activeConfiguration: UInt8

    /// `0a12:0001`, as `lsusb` prints it.
    public var identifiers: String { "\(USBSelector.identifiers(vendor: vendor, product: product))" }

    /// What opens it.
    public var address: TransportAddress { .usb(.port(port)) }

    /// As messages name it.
    var text: String { "\(port) (\(identifiers))" }
}
