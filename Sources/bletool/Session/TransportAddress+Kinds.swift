import BLE
import BLEUSB

extension TransportAddress {
    /// Whether it names one of the kernel's adapters.
    var leadsToKernel: Bool { kernelIndex != nil }

    /// The number of the kernel's adapter; `nil` for another transport.
    var kernelIndex: UInt16? {
        switch self {
        case .userChannel(let adapter), .rawChannel(let adapter): adapter
        default: nil
        }
    }

    /// Whether a file that the user names plays the controller.
    var isFile: Bool {
        switch self {
        case .simulator, .replay: true
        default: false
        }
    }

    /// Whether the controller is simulated in this process.
    var isSimulator: Bool { if case .simulator = self { true } else { false } }

    /// The USB device that `usb:` names, if it is plugged in; `nil` for another transport.
    var usbDevice: USBBluetoothDevice? {
        guard case .usb(let selector) = self else { return nil }
        return USBDeviceList().bluetoothDevices().first { device in
            switch selector {
            case .first: true
            case .identifiers(let vendor, let product): device.vendor == vendor && device.product == product
            case .port(let port): device.port == port
            }
        }
    }

    /// The device behind the adapter, as far as the kernel describes it; `nil` where it does not know the adapter.
    var hardware: AdapterHardware? {
        if let kernelIndex { return AdapterHardware.read(kernelIndex) }
        guard let device = usbDevice else { return nil }
        var hardware = AdapterHardware(index: 0)
        hardware.bus = "usb"
        hardware.usb = AdapterHardware.USBDevice(
            vendor: device.vendor, product: device.product, release: device.release, port: device.port, bus: 0,
            device: 0, productName: device.name)
        return hardware
    }

    /// What to do with a controller that hangs, where this leads.
    var cureOfHang: String {
        switch self {
        case .userChannel, .rawChannel: "reset it with ‘bletool -t \(adapterName) power reset’"
        case .usb, .daemon: "reset it with ‘bletool -t \(self) power reset’"
        case .serialPort: "switch its power off and on"
        case .simulator, .replay: "it begins afresh with each command"
        case .unix, .tcp: "start the program behind it again"
        }
    }

    /// The word before the colon.
    var scheme: String { String(description.prefix { $0 != ":" }) }

    /// What the adapter is called in what the tool prints: `hci0`, or the transport's address.
    var adapterName: String { kernelIndex.map { "hci\($0)" } ?? description }
}
