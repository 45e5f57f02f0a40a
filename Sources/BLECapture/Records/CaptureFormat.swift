/// The file formats for captures of HCI traffic.
public enum CaptureFormat: Hashable, Sendable {
    /// btsnoop with packets without H4 type octet, datalink 1001: commands, events and ACL data.
    case btsnoopUnencapsulated
    /// btsnoop with H4 packets, datalink 1002, as Android writes it.
    case btsnoop
    /// btsnoop of the Linux monitor, datalink 2001, as btmon writes it: many adapters, and notes besides the packets.
    case btsnoopMonitor
    /// pcap; written with link type 201, H4 with direction.
    case pcap
    /// pcapng; written with link type 201 and an interface for each adapter.
    case pcapng
    /// PacketLogger, Apple's format.
    case packetLogger
    /// The format of BlueZ's older hcidump: H4 packets with their direction.
    case hcidump

    /// The format that `-w` writes to a file of this name; `nil` for an ending of no format.
    ///
    /// `.btsnoop`, `.snoop` and `.log` are btsnoop; the others have their own endings. Case does not matter.
    public init?(ending path: String) {
        guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let ending = path.utf8[path.utf8.index(after: dot)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        switch String(decoding: ending, as: UTF8.self) {
        case "btsnoop", "snoop", "log": self = .btsnoop
        case "pcap": self = .pcap
        case "pcapng": self = .pcapng
        case "pklg": self = .packetLogger
        default: return nil
        }
    }
}

/// The unit of timestamps in formats that allow both.
public enum CaptureTimeResolution: Sendable {
    /// Millionths of a second.
    case microseconds
    /// Thousandths of a microsecond.
    case nanoseconds
}
