import BLEPackets

/// Controllers that are known to deviate from the specification, each with its traits.
///
/// A family is a first guess: units that name themselves alike differ, and what the controller does overrides it
/// (bluetooth-next#641). One row a family: how it is recognised, and where its traits come from.
public enum ControllerFamily: UInt8, CaseIterable, Hashable, Sendable {
    /// CSR BlueCore.
    case csr = 1
    /// Copies of CSR's chips, by several makers.
    case csrClone
    /// Barrot's chips, sold under their own numbers.
    case barrot
    /// Actions ATS2851.
    case ats2851
    /// Realtek RTL8761B and RTL8761BU.
    case realtek8761
    /// Realtek chips with Wi-Fi: RTL8723, RTL8821, RTL8822.
    case realtekCombo
    /// Realtek RTL8852 and its successors.
    case realtek8852
    /// MediaTek MT7921, MT7922 and MT7925.
    case mediatek792x
    /// Intel 7260, 3165 and 3168.
    case intel7260
    /// Intel 8265, 9260, 9560, AX200 and AX201.
    case intelAX200
    /// Intel AX210, AX211 and later.
    case intelAX210
    /// Broadcom and Cypress on a serial port: Raspberry Pi.
    case broadcomUART
    /// Broadcom BCM20702.
    case broadcom20702
    /// Broadcom in Apple's computers: BCM4377 and later.
    case broadcomApple
    /// Zephyr's link layer and Nordic's SoftDevice Controller.
    case zephyr
    /// Espressif ESP32.
    case espressif
    /// Texas Instruments CC256x and WL18xx.
    case texasInstruments
    /// Qualcomm ROME and WCN.
    case qualcomm
    /// Packetcraft's link layer in Laird's BL654.
    case packetcraft
    /// VMware's virtual adapter.
    case vmware

    /// How people call it.
    public var name: String {
        switch self {
        case .csr: "CSR BlueCore"
        case .csrClone: "clone of a CSR chip"
        case .barrot: "Barrot"
        case .ats2851: "Actions ATS2851"
        case .realtek8761: "Realtek RTL8761B"
        case .realtekCombo: "Realtek RTL8723/8821/8822"
        case .realtek8852: "Realtek RTL8852"
        case .mediatek792x: "MediaTek MT7921/7922/7925"
        case .intel7260: "Intel 7260/3165/3168"
        case .intelAX200: "Intel 8265/9260/9560/AX200/AX201"
        case .intelAX210: "Intel AX210/AX211"
        case .broadcomUART: "Broadcom/Cypress on a serial port"
        case .broadcom20702: "Broadcom BCM20702"
        case .broadcomApple: "Broadcom in an Apple computer"
        case .zephyr: "Zephyr or Nordic"
        case .espressif: "Espressif ESP32"
        case .texasInstruments: "Texas Instruments CC256x/WL18xx"
        case .qualcomm: "Qualcomm ROME/WCN"
        case .packetcraft: "Packetcraft (BL654)"
        case .vmware: "VMware's virtual adapter"
        }
    }

    /// What is expected of it.
    public var traits: ControllerTraits {
        switch self {
        // noble#237, ScpToolkit#506: the address of one can be that of all.
        case .csrClone: [.isClone, .sendsDataBeforeEvents]
        // Linux btusb.c, CachyOS/kernel-patches#180.
        case .csr: [.sendsDataBeforeEvents]
        // Linux btusb.c; systemd#27768.
        case .barrot: [.suffersFromAutosuspend]
        // bluetooth-next#9, raspberrypi/linux#5459.
        case .ats2851:
            [.scansWithLegacyCommands, .initiatesWithLegacyCommands, .cannotWriteAuthenticatedPayloadTimeout]
        // home-assistant/core#85047; bluetooth-next#133 and #641: which commands scan is left to experience.
        case .realtek8761: [.needsDeviceReset, .sendsDataBeforeEvents, .suffersFromAutosuspend, .losesReception]
        // bluetooth-next#104, home-assistant/core#99053.
        case .realtekCombo: [.disturbsLinksByScanning, .losesReception]
        // CachyOS/kernel-patches#180.
        case .realtek8852: [.sendsDataBeforeEvents, .disturbsLinksByScanning]
        // mediatek7925e-bluetooth-fix#13, bluetooth-next#276.
        case .mediatek792x: [.stopsConnecting, .suffersFromAutosuspend, .losesReception]
        // home-assistant/operating-system#3725.
        case .intel7260: [.flaps]
        // Linux btintel.c (BROKEN_LE_CODED); StarLabsLtd/firmware#382.
        case .intelAX200: [.cannotScanOnCodedPHY, .sendsDataBeforeEvents, .losesReception]
        // home-assistant/core#99053; NicoIIT/ha-ble-adv#60.
        case .intelAX210: [.losesReception, .failsUnderManyReports]
        // raspberrypi/linux#3330.
        case .broadcomUART: [.crashesScanningDuringLinkSetup]
        case .broadcom20702: []
        // Linux hci_bcm4377.c.
        case .broadcomApple: [.scansWithLegacyCommands, .cannotScanOnCodedPHY]
        // zephyr#11016, zephyr#20250, zephyr#33688.
        case .zephyr: [.hasStaticAddresses, .failsUnderManyReports]
        // esp-idf#14648, esp-hosted#138.
        case .espressif: [.losesLongData, .failsUnderManyReports]
        // btstack#28.
        case .texasInstruments: [.refusesAdvertisingWhileScanning]
        // Linux hci_qca.c, btqca.c.
        case .qualcomm: [.reportsWrongStates]
        // BTstack's hci.c.
        case .packetcraft: [.eventMaskPageTwoMutesEncryption]
        // bumble#605.
        case .vmware: []
        }
    }

    /// The family that a device on USB says it is of (ids: Linux 6.12, btusb.c).
    public init?(_ identity: ControllerIdentity) {
        switch UInt32(identity.usbVendor) << 16 | UInt32(identity.usbProduct) {
        case 0x2357_0604, 0x2357_0607, 0x0B05_190E, 0x0BDA_8771, 0x2550_8761, 0x7392_C611, 0x2B89_8761, 0x2B89_6275,
            0x2C4E_0115, 0x6655_8771, 0x37AD_0600, 0x14B0_047A, 0x0BDA_A728, 0x0BDA_A729:
            self = .realtek8761
        case 0x0BDA_2852, 0x0BDA_C852, 0x0BDA_385A, 0x0BDA_4852, 0x04C5_165C, 0x04CA_4006, 0x0CB8_C549:
            self = .realtek8852
        case 0x0489_E0D8...0x0489_E170, 0x04CA_3804, 0x04CA_38E4, 0x0E8D_223C, 0x13D3_3568, 0x13D3_3584, 0x13D3_3585,
            0x13D3_3605, 0x13D3_3607, 0x13D3_3610, 0x13D3_3614, 0x13D3_3615, 0x13D3_3633, 0x35F5_7922:
            self = .mediatek792x
        case 0x8087_07DC, 0x8087_0A2A, 0x8087_0AA7: self = .intel7260
        case 0x8087_0A2B, 0x8087_0025, 0x8087_0026, 0x8087_0029, 0x8087_0AAA: self = .intelAX200
        case 0x8087_0032, 0x8087_0033, 0x8087_0035...0x8087_0040: self = .intelAX210
        case 0x10D7_B012: self = .ats2851
        case 0x33FA_0001, 0x33FA_0010, 0x33FA_0012: self = .barrot
        case 0x0A5C_21E8, 0x0B05_17CB: self = .broadcom20702
        case 0x2FE3_0000...0x2FE3_FFFF, 0x1915_0000...0x1915_FFFF: self = .zephyr
        // A clone or not: the release decides here, the versions later (Linux btusb.c, btusb_setup_csr).
        case 0x0A12_0001:
            switch identity.usbRelease {
            case 0x0100, 0x0134, 0x1915, 0x2520, 0x7558, 0x8891: self = .csrClone
            default: return nil
            }
        default: return nil
        }
    }

    /// The family that a controller belongs to by its identity on USB and by what it reports about itself.
    init?(_ identity: ControllerIdentity?, _ information: ControllerInformation) {
        if let identity, let family = ControllerFamily(identity) {
            self = family
            return
        }
        switch information.companyIdentifier {
        case 0x000A: self = information.isGenuineCSR ? .csr : .csrClone
        case 0x0002: self = information.hciVersion >= 9 ? .intelAX200 : .intel7260
        case 0x000D: self = .texasInstruments
        // Broadcom and Cypress: the chips of Raspberry Pi (Linux btbcm.c).
        case 0x000F, 0x0131, 0x0009:
            switch information.lmpSubversion {
            case 0x2209, 0x6119, 0x6606, 0x230F, 0x2119, 0x6106, 0x2122, 0x410C: self = .broadcomUART
            case 0x220E: self = .broadcom20702
            default: return nil
            }
        case 0x001D: self = .qualcomm
        case 0x0046: self = .mediatek792x
        case 0x005D: self = information.realtekFamily
        case 0x05F1, 0x0059: self = .zephyr
        case 0x02E5: self = .espressif
        case 0x03E0: self = .ats2851
        case 0x07E8: self = .packetcraft
        default: return nil
        }
    }
}

extension ControllerInformation {
    /// Whether the revisions are those of a chip that CSR made (Linux btusb.c, btusb_setup_csr).
    fileprivate var isGenuineCSR: Bool {
        guard hciSubversion == lmpSubversion else { return false }
        return switch hciVersion {
        case 1: lmpSubversion <= 0x034E
        case 2: lmpSubversion <= 0x0529
        case 3: lmpSubversion <= 0x0C5C
        case 4: lmpSubversion <= 0x1899
        case 6: lmpSubversion <= 0x22BB
        default: false
        }
    }

    /// The subversion of Realtek's read-only memory names the chip; that of loaded firmware is another number (Linux
    /// btrtl.c).
    fileprivate var realtekFamily: ControllerFamily {
        switch lmpSubversion {
        case 0x8723, 0x8821, 0x8822, 0x8703: .realtekCombo
        case 0x8852, 0x8851, 0x8922: .realtek8852
        default: .realtek8761
        }
    }

    /// What the reported numbers show beside the family.
    var reportedTraits: ControllerTraits {
        var traits: ControllerTraits = []
        if companyIdentifier == 0x005D {
            switch lmpSubversion {
            // With firmware, the subversion is a part of its version (Linux btrtl.c).
            case 0x8761, 0x8723, 0x8821, 0x8822, 0x8852, 0x8851, 0x8922: traits.insert(.lacksFirmware)
            default: break
            }
        }
        if let publicAddress {
            // A clone with a number of the maker that it copies.
            let isCopied = publicAddress.value >> 24 == 0x00_1A7D && family == .csrClone
            if isCopied || publicAddress.isSharedByMany { traits.insert(.sharesPublicAddress) }
        }
        return traits
    }
}
