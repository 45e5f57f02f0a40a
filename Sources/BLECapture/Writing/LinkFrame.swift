/// The form of a record in a frame of pcap or pcapng.
struct LinkFrame {
    /// Four octets in front, most significant first.
    var header: UInt32?
    /// How many octets of the record are left out: the H4 type, if the header contains it.
    var droppedByteCount: Int
    var direction: CaptureDirection?

    /// `nil` if the link type cannot represent the record.
    init?(_ content: CaptureRecord.Content, _ bytes: RawSpan, adapter: UInt16, link: CaptureLink) {
        switch (link, content) {
        case (.h4, .packet(let direction)):
            droppedByteCount = 0
            self.direction = direction
        case (.h4WithDirection, .packet(let direction)):
            header = UInt32(direction.rawValue)
            droppedByteCount = 0
        case (.linuxMonitor, .packet(let direction)):
            guard let opcode = MonitorOpcode(h4: bytes, direction: direction) else { return nil }
            header = UInt32(adapter) << 16 | UInt32(opcode.rawValue)
            droppedByteCount = 1
        case (.linuxMonitor, .note(.monitor(let opcode))):
            header = UInt32(adapter) << 16 | UInt32(opcode.rawValue)
            droppedByteCount = 0
        case (_, .note), (_, .linkLayer): return nil
        }
    }
}
