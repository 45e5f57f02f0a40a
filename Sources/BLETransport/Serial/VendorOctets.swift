/// Octets that chips send between H4 packets, each in the place of a packet type.
///
/// - Qualcomm's in-band sleep (Linux, drivers/bluetooth/hci_qca.c): 0xFE goes to sleep, 0xFD wants the host to be
///   awake and waits for 0xFC.
/// - HCILL of Texas Instruments (hci_ll.c): 0x30 goes to sleep after 0x31; 0x32 wakes the host and waits for 0x33.
/// - Broadcom (hci_bcm.c): 0x00, 0x31 and 0x34 stand for nothing; 63 octets of diagnostics follow 0x07.
enum VendorOctets {
    struct Meaning: Equatable {
        /// Octets that follow and belong to it.
        var followingByteCount = 0
        /// The octet that the chip waits for.
        var reply: UInt8?
    }

    /// - Returns: `nil` for an octet that no chip sends between packets.
    static func meaning(of octet: UInt8) -> Meaning? {
        switch octet {
        case 0x00, 0x31, 0x33, 0x34, 0xFC, 0xFE: Meaning()
        case 0x07: Meaning(followingByteCount: 63)
        case 0x30: Meaning(reply: 0x31)
        case 0x32: Meaning(reply: 0x33)
        case 0xFD: Meaning(reply: 0xFC)
        default: nil
        }
    }
}
