/// The device behind one of the kernel's adapters, as far as sysfs describes it. What sysfs lacks, or has in a form that
/// nobody expects, is `nil`.
public struct AdapterHardware: Hashable, Sendable {
    /// The number in `hci0`.
    public let index: UInt16
    /// The kernel's name of the bus: `usb`, `serial`, `sdio`, `pci`, `tty`… `nil` for an adapter without a device, such as
    /// a virtual one.
    public var bus: String?
    /// The name of the device on its bus, such as `1-2:1.0`, `serial0-0`, `mmc1:0001:2` or `0000:02:00.0`.
    public var deviceName: String?
    /// The kernel's driver, such as `btusb`.
    public var driver: String?
    /// What is plugged in; `nil` if the adapter is no USB device.
    public var usb: USBDevice?
    /// What a PCI or SDIO device is.
    public var function: Function?
    /// The power management of the device; `nil` if the kernel has none for it.
    public var power: DevicePower?
    /// What rfkill says of the adapter. It does not change while a program has the adapter's user channel (Linux,
    /// net/bluetooth/hci_core.c, hci_rfkill_set_block).
    public var block: RadioBlock?

    /// A function of a PCI or SDIO card.
    public struct Function: Hashable, Sendable {
        /// The number of its maker.
        public var vendor: UInt16
        /// The maker's number of it.
        public var device: UInt16

        public init(vendor: UInt16, device: UInt16) { (self.vendor, self.device) = (vendor, device) }
    }

    /// A USB device.
    public struct USBDevice: Hashable, Sendable {
        /// `idVendor`.
        public var vendor: UInt16
        /// `idProduct`.
        public var product: UInt16
        /// `bcdDevice`: the release number of the device.
        public var release: UInt16
        /// The bus and the ports on the way to the device, such as `1-2.3`: it names the socket that the device is in.
        public var port: String
        /// With `device`, the name of the file in `/dev/bus/usb`. Both change at each enumeration.
        public var bus: Int
        public var device: Int
        /// What the device says of itself, for people.
        public var productName: String?
        /// The drivers of its other functions, such as Wi-Fi, which a reset of the device would end.
        public var otherDrivers: [String] = []

        public init(
            vendor: UInt16, product: UInt16, release: UInt16, port: String, bus: Int, device: Int,
            productName: String? = nil
        ) {
            (self.vendor, self.product, self.release) = (vendor, product, release)
            (self.port, self.bus, self.device, self.productName) = (port, bus, device, productName)
        }

        /// `0a12:0001`.
        public var identifiers: String { hexadecimal(vendor) + ":" + hexadecimal(product) }
        /// `0134`.
        public var releaseText: String { hexadecimal(release) }

        private func hexadecimal(_ value: UInt16) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }
    }

    /// The runtime power management of a device (Linux, Documentation/ABI/testing/sysfs-devices-power).
    public struct DevicePower: Hashable, Sendable {
        /// Whether the kernel may suspend the device while it seems idle: `power/control` is `auto`.
        public var isAutomatic: Bool
        /// Whether the device is suspended now.
        public var isSuspended: Bool?
        /// How long the device must be idle, in milliseconds; negative: it is never suspended.
        public var delayMilliseconds: Int?
        /// The file `power/control`.
        public var path: String

        public init(isAutomatic: Bool, isSuspended: Bool? = nil, delayMilliseconds: Int? = nil, path: String) {
            (self.isAutomatic, self.isSuspended) = (isAutomatic, isSuspended)
            (self.delayMilliseconds, self.path) = (delayMilliseconds, path)
        }

        /// Whether the kernel may really suspend it.
        public var mayBeSuspended: Bool { isAutomatic && delayMilliseconds.map { $0 >= 0 } ?? true }
    }

    /// An adapter of which nothing is known.
    public init(index: UInt16) { self.index = index }

    /// The place of the device, which stays the same when the kernel gives the adapter another number: the USB ports, or
    /// the device's name on another bus. `nil` for an adapter without a device.
    public var place: String? { usb?.port ?? deviceName }

    /// Reads what sysfs has.
    /// - Parameter root: where sysfs is mounted.
    public static func read(_ index: UInt16, root: String = "/sys") -> AdapterHardware {
        var hardware = AdapterHardware(index: index)
        let own = "\(root)/class/bluetooth/hci\(index)"
        hardware.block = RadioBlock.ofAdapter(in: own)
        guard let device = SystemFiles.resolved(own + "/device") else { return hardware }
        hardware.bus = SystemFiles.targetName(device + "/subsystem")
        hardware.deviceName = SystemFiles.name(device)
        hardware.driver = SystemFiles.targetName(device + "/driver")
        var powered = device
        if hardware.bus == "usb" {
            // The adapter belongs to an interface of the device.
            let parent = parent(of: device)
            hardware.usb = readUSB(parent)
            hardware.usb?.otherDrivers = otherDrivers(parent, besides: hardware.driver)
            powered = parent
        } else if let vendor = SystemFiles.identifier(device + "/vendor", prefix: "0x"),
            let product = SystemFiles.identifier(device + "/device", prefix: "0x")
        {
            hardware.function = Function(vendor: vendor, device: product)
        }
        hardware.power = readPower(powered)
        return hardware
    }

    private static func readUSB(_ device: String) -> USBDevice? {
        guard let port = SystemFiles.name(device), isPort(port),
            let vendor = SystemFiles.identifier(device + "/idVendor"),
            let product = SystemFiles.identifier(device + "/idProduct"),
            let release = SystemFiles.identifier(device + "/bcdDevice"),
            let bus = SystemFiles.number(device + "/busnum"), (1...999).contains(bus),
            let number = SystemFiles.number(device + "/devnum"), (1...999).contains(number)
        else { return nil }
        return USBDevice(
            vendor: vendor, product: product, release: release, port: port, bus: bus, device: number,
            productName: SystemFiles.text(device + "/product"))
    }

    private static func otherDrivers(_ device: String, besides own: String?) -> [String] {
        guard let port = SystemFiles.name(device) else { return [] }
        let drivers = SystemFiles.entries(device).filter { $0.hasPrefix(port + ":") }
            .compactMap { SystemFiles.targetName("\(device)/\($0)/driver") }
        return Set(drivers).subtracting(own.map { [$0] } ?? []).sorted()
    }

    private static func readPower(_ device: String) -> DevicePower? {
        let path = device + "/power/control"
        let isAutomatic: Bool
        switch SystemFiles.text(path) {
        case "auto": isAutomatic = true
        case "on": isAutomatic = false
        default: return nil
        }
        let delay = SystemFiles.text(device + "/power/autosuspend_delay_ms")
        return DevicePower(
            isAutomatic: isAutomatic,
            isSuspended: SystemFiles.text(device + "/power/runtime_status").map { $0 == "suspended" },
            delayMilliseconds: delay.flatMap { $0.utf8.count <= 9 ? Int($0) : nil }, path: path)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[..<slash])
    }

    /// `1-2.3`: a bus, and a port for each hub on the way.
    static func isPort(_ text: String) -> Bool {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= 32 else { return false }
        let numbers = [parts[0]] + parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return numbers.allSatisfy { number in
            (1...3).contains(number.utf8.count)
                && number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }
}
