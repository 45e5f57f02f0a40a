import BLEPackets

extension Btsnoop {
    /// Bit 0: received; bit 1: command or event.
    static func flags(of packet: RawSpan, _ direction: CaptureDirection) -> UInt32 {
        let isControl = packet.byte(at: 0) == 0x01 || packet.byte(at: 0) == 0x04
        return UInt32(direction.rawValue) | (isControl ? 2 : 0)
    }
}

extension CaptureWriter {
    mutating func writeBtsnoopHeader(_ datalink: BtsnoopDatalink) {
        buffer.append(big: Btsnoop.identification)
        buffer.append(big: Btsnoop.version)
        buffer.append(big: datalink.rawValue)
    }

    mutating func writeBtsnoop(_ bytes: RawSpan, flags: UInt32, _ microseconds: Int64, _ original: UInt32) {
        buffer.append(big: original)
        buffer.append(big: UInt32(bytes.byteCount))
        buffer.append(big: flags)
        buffer.append(big: UInt32(0))  // no packets were dropped
        buffer.append(big: microseconds &+ Btsnoop.unixEpoch)
        buffer.append(bytes)
    }

    mutating func writeMonitor(
        _ payload: RawSpan, _ opcode: MonitorOpcode, _ microseconds: Int64, _ adapter: UInt16, _ original: UInt32
    ) {
        let flags = UInt32(adapter) << 16 | UInt32(opcode.rawValue)
        writeBtsnoop(payload, flags: flags, microseconds, original)
    }
}
