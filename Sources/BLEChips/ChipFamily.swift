/// A family of Bluetooth chips on serial ports, by what has to be done before a chip can be used.
public enum ChipFamily: String, Hashable, Sendable, CaseIterable {
    /// By the manufacturer that the chip reports.
    case automatic = "auto"
    /// Broadcom, Cypress and Infineon.
    case broadcom
    case realtek
    /// Zephyr and the nRF Connect SDK.
    case zephyr
    /// Texas Instruments.
    case texasInstruments = "ti"
    case intel
    case qualcomm
    case mediatek
    case nxp

    /// Whether only a driver of the kernel starts these chips.
    public var needsKernelDriver: Bool {
        switch self {
        case .automatic, .broadcom, .realtek, .zephyr, .texasInstruments: false
        case .intel, .qualcomm, .mediatek, .nxp: true
        }
    }

    /// The family of the chips of a manufacturer (Bluetooth Assigned Numbers, 7); `nil` if they need nothing.
    init?(manufacturer: UInt16) {
        switch manufacturer {
        case 0x000F, 0x0131, 0x0009: self = .broadcom
        case 0x005D: self = .realtek
        case 0x05F1, 0x0059: self = .zephyr
        case 0x000D: self = .texasInstruments
        case 0x0002: self = .intel
        case 0x001D: self = .qualcomm
        case 0x0046: self = .mediatek
        case 0x0025, 0x0048: self = .nxp
        default: return nil
        }
    }

    /// The name that people know.
    var name: String {
        switch self {
        case .automatic: "unknown"
        case .broadcom: "Broadcom"
        case .realtek: "Realtek"
        case .zephyr: "Zephyr"
        case .texasInstruments: "Texas Instruments"
        case .intel: "Intel"
        case .qualcomm: "Qualcomm"
        case .mediatek: "MediaTek"
        case .nxp: "NXP"
        }
    }
}
