import BLEPackets

/// A family of real controllers, as reports and drivers describe it: its identity, what it claims, and its faults.
///
///     let controller = air.addController(.ats2851)
///
/// None of them was measured: identities and faults come from the sources that each fault names, from Linux (`btusb.c`,
/// `btrtl.c`, `btbcm.c`, `btintel.c`) and from published traces; what these do not say is a plausible value.
public enum SimulatedControllerPreset: String, CaseIterable, Hashable, Sendable {
    /// A clone of a CSR 8510, of Core 4.0: every unit has the same address, and needless commands lock it up.
    case csrClone = "csr-clone"
    /// Realtek's RTL8761B, of Core 5.1: refuses an extended scan while there is a link, and its events lag.
    case realtek8761 = "realtek-8761"
    /// Actions' ATS2851, sold as 5.3: claims extended scanning and connecting, and has neither.
    case ats2851
    /// Intel's AX200 and AX210, of Core 5.2: deaf with LE Coded, and after some minutes of scanning.
    case intelAX2xx = "intel-ax2xx"
    /// The BCM4345 of a Raspberry Pi, of Core 5.0 on a UART: crashes when a new link meets a scan.
    case broadcomPi = "broadcom-pi"
    /// Zephyr's `hci_usb` on a chip of Nordic, of Core 5.4: no public address, parts of reports interleave.
    case zephyrUSB = "zephyr-usb"
    /// The controller of an ESP32, of Core 4.2 on a UART: its buffers are not given back after long use.
    case esp32
    /// MediaTek's MT7922, of Core 5.3: refuses the data of extended advertising.
    case mediatek7922 = "mediatek-7922"
    /// TI's CC2564, of Core 4.1 on a UART: one thing at a time.
    case cc2564
    /// The adapter that VMware shows to a guest: claims buffers that it has not, and has no random address.
    case virtualMachine = "virtual-machine"

    /// The name in `sim:NAME`, in scenarios and in options.
    public var name: String { rawValue }

    /// - Parameter name: such as `realtek-8761`.
    public init?(name: String) { self.init(rawValue: name) }

    /// What a USB dongle of the family has in its descriptor; `nil` for one on a UART.
    public var usbIdentity: SimulatedUSBIdentity? {
        switch self {
        case .csrClone: SimulatedUSBIdentity(vendor: 0x0A12, product: 0x0001, release: 0x0134)
        case .realtek8761: SimulatedUSBIdentity(vendor: 0x0BDA, product: 0xA728, release: 0x0200)
        case .ats2851: SimulatedUSBIdentity(vendor: 0x10D7, product: 0xB012, release: 0x8891)
        case .intelAX2xx: SimulatedUSBIdentity(vendor: 0x8087, product: 0x0029, release: 0x0001)
        case .zephyrUSB: SimulatedUSBIdentity(vendor: 0x2FE3, product: 0x000B, release: 0x0305)
        case .mediatek7922: SimulatedUSBIdentity(vendor: 0x0489, product: 0xE0D8, release: 0x0100)
        case .virtualMachine: SimulatedUSBIdentity(vendor: 0x0E0F, product: 0x0008, release: 0x0100)
        case .broadcomPi, .esp32, .cc2564: nil
        }
    }

    /// Whether its controllers have BR/EDR, too.
    var hasClassic: Bool { self != .zephyrUSB }
}
