import BLEPackets

extension DeviceAddress {
    /// Whether many controllers have this public address: makers' defaults, and an address that clones copy. It
    /// identifies no device.
    public var isSharedByMany: Bool {
        guard kind == .public else { return false }
        return switch value {
        // Broadcom and Cypress without an address of their own (Linux btbcm.c).
        case 0x2070_02A0_0000, 0x0020_7002_A000, 0x2076_A000_5679, 0x4324_B300_0000, 0x4330_B100_0000,
            0x4334_B000_0000, 0x4345_C500_1FAC, 0x4343_A012_1FAC, 0xAAAA_AAAA_AAAA, 0x4334_1B00_1FAC:
            true
        // Intel (Linux btintel.c).
        case 0x0003_199E_8B00: true
        // Clones of CSR's chips (noble#237, felis/USB_Host_Shield_2.0#432).
        case 0x001A_7DDA_7111, 0x001A_7DDA_7113, 0x001A_7DDA_7115: true
        default: false
        }
    }
}
