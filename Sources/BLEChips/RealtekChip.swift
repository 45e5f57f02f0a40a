/// The chips of Realtek on serial ports, by what their ROM reports (Linux, drivers/bluetooth/btrtl.c).
struct RealtekChip: Equatable {
    /// The files' names begin with it.
    let name: String
    /// The numbers in the firmware file that stand for it.
    let projects: Set<UInt8>

    /// The Debian package with the files.
    static let package = "firmware-realtek (from non-free-firmware)"

    var firmwareFiles: [String] { ["rtl_bt/\(name)_fw.bin"] }
    var configurationFiles: [String] { ["rtl_bt/\(name)_config.bin"] }

    /// - Returns: `nil` for one that is not known here.
    static func find(lmpSubversion: UInt16, hciRevision: UInt16, hciVersion: UInt8) -> RealtekChip? {
        switch (lmpSubversion, hciRevision, hciVersion) {
        case (0x8761, 0x000B, 10): RealtekChip(name: "rtl8761b", projects: [14])
        case (0x8723, 0x000B, 6): RealtekChip(name: "rtl8723bs", projects: [1])
        case (0x8723, 0x000D, 8): RealtekChip(name: "rtl8723ds", projects: [9])
        case (0x8821, 0x000C, 8): RealtekChip(name: "rtl8821cs", projects: [10])
        case (0x8822, 0x000C, 10): RealtekChip(name: "rtl8822cs", projects: [13])
        default: nil
        }
    }

    /// Whether this is what a ROM reports: with firmware the chip reports the two halves of its version.
    static func isROM(lmpSubversion: UInt16) -> Bool {
        [0x8761, 0x8723, 0x8821, 0x8822, 0x8852, 0x8703, 0x8851, 0x8922].contains(lmpSubversion)
    }

    /// The vendor's code of a speed; `nil` for one that it does not have.
    static func code(ofBaud baud: UInt32) -> UInt32? {
        switch baud {
        case 115_200: 0x0252_C014
        case 230_400: 0x0252_A00A
        case 921_600: 0x05F7_5004
        case 1_000_000: 0x0000_5004
        case 1_500_000: 0x0492_8002
        case 2_000_000: 0x0000_5002
        case 2_500_000: 0x0000_B001
        case 3_000_000: 0x0492_8001
        case 3_500_000: 0x052A_6001
        case 4_000_000: 0x0000_5001
        default: nil
        }
    }
}
