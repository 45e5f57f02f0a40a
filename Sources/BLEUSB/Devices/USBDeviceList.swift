import BLETransport

/// The USB devices that are plugged in, from sysfs. It needs no permission and no library.
public struct USBDeviceList {
    /// The folder with an entry for each device and each interface.
    private let folder: String
    /// The folder with the files through which programs reach devices.
    private let files: String

    public init() { self.init(folder: "/sys/bus/usb/devices") }

    init(folder: String, files: String = "/dev/bus/usb") {
        self.folder = folder
        self.files = files
    }

    /// Bluetooth controllers, in the order of buses and ports.
    public func bluetoothDevices() -> [USBBluetoothDevice] { ports().compactMap { device(at: $0, isNamed: false) } }

    /// The devices that are meant, in the order in which they are tried; those without a Bluetooth controller are left
    /// out.
    func devices(_ selector: USBSelector) -> [USBBluetoothDevice] {
        switch selector {
        case .first: bluetoothDevices()
        case .identifiers(let vendor, let product):
            ports().compactMap { device(at: $0, isNamed: true) }.filter { $0.vendor == vendor && $0.product == product }
        case .port(let port): device(at: port, isNamed: true).map { [$0] } ?? []
        }
    }

    /// Whether a device that is meant is plugged in, whatever it is.
    func contains(_ selector: USBSelector) -> Bool {
        switch selector {
        case .first: false
        case .identifiers(let vendor, let product):
            ports().contains { port in
                descriptors(at: port).map { $0.vendor == vendor && $0.product == product } ?? false
            }
        case .port(let port): ports().contains(port)
        }
    }

    /// Root hubs have other names, and interfaces a colon.
    private func ports() -> [String] {
        let found = SystemFiles.entries(of: folder).filter { USBSelector.isPort($0) }
        return found.sorted { Self.order($0).lexicographicallyPrecedes(Self.order($1)) }
    }

    private static func order(_ port: String) -> [Int] {
        port.split { $0 == "-" || $0 == "." }.map { Int($0) ?? 0 }
    }

    private func descriptors(at port: String) -> USBDescriptors? {
        SystemFiles.contents(of: "\(folder)/\(port)/descriptors").flatMap { try? USBDescriptors($0) }
    }

    private func device(at port: String, isNamed: Bool) -> USBBluetoothDevice? {
        let own = "\(folder)/\(port)"
        guard let descriptors = descriptors(at: port), let bus = number("busnum", own),
            let number = number("devnum", own)
        else { return nil }
        // An empty line: no configuration is set.
        let active = SystemFiles.line(of: "\(own)/bConfigurationValue").flatMap { UInt8($0) } ?? 0
        guard let function = BluetoothFunction(descriptors, activeConfiguration: active, isNamed: isNamed) else {
            return nil
        }
        let interface = "\(folder)/\(port):\(function.configuration).\(function.interface)"
        return USBBluetoothDevice(
            port: port, vendor: descriptors.vendor, product: descriptors.product, release: descriptors.release,
            name: SystemFiles.line(of: "\(own)/product").flatMap { $0.isEmpty ? nil : $0 },
            driver: SystemFiles.linkName("\(interface)/driver"),
            adapter: SystemFiles.entries(of: "\(interface)/bluetooth").first { $0.hasPrefix("hci") },
            path: "\(files)/\(Self.threeDigits(bus))/\(Self.threeDigits(number))", function: function,
            activeConfiguration: active)
    }

    private func number(_ name: String, _ folder: String) -> Int? {
        SystemFiles.line(of: "\(folder)/\(name)").flatMap { Int($0) }.flatMap { (1...999).contains($0) ? $0 : nil }
    }

    private static func threeDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}
