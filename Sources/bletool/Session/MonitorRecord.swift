import BLE
import BLECapture

/// Frames of the monitor channel as records of btsnoop, datalink 2001.
enum MonitorRecord {
    /// Microseconds from the year 0 to 1970, by which btsnoop counts.
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000
    private static let noAdapter: UInt16 = 0xFFFF

    static let fileHeader: [UInt8] = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xD1]

    /// - Parameters:
    ///   - frame: opcode, adapter and length, then the payload.
    ///   - adapter: whose frames are wanted, beside those of no adapter; `nil`: all.
    ///   - bytes: becomes the record.
    /// - Returns: `false` for a frame that is cut short or not wanted; `bytes` is empty then.
    static func write(
        _ frame: RawSpan, at unixMicroseconds: Int64, of adapter: UInt16?, into bytes: inout [UInt8]
    ) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        guard frame.byteCount >= 6, let opcode = word(frame, 0), let index = word(frame, 2),
            let length = word(frame, 4),
            frame.byteCount >= 6 + Int(length), adapter == nil || index == adapter || index == noAdapter
        else { return false }
        let count = UInt32(length)
        append(count, to: &bytes)
        append(count, to: &bytes)
        append(UInt32(index) << 16 | UInt32(opcode), to: &bytes)
        append(UInt32(0), to: &bytes)
        append(UInt64(bitPattern: unixMicroseconds &+ epoch), to: &bytes)
        for offset in 6..<6 + Int(length) { bytes.append(frame.byte(at: offset) ?? 0) }
        return true
    }

    /// A capture with one H4 packet of an adapter.
    static func capture(
        _ packet: [UInt8], _ direction: PacketDirection, at unixMicroseconds: UInt64, of adapter: UInt16
    ) -> [UInt8] {
        let isReceived = direction == .controllerToHost
        let opcode: MonitorOpcode? =
            switch packet.first {
            case 1: .commandPacket
            case 2: isReceived ? .receivedACLData : .sentACLData
            case 3: isReceived ? .receivedSCOData : .sentSCOData
            case 4: .eventPacket
            case 5: isReceived ? .receivedISOData : .sentISOData
            default: nil
            }
        // The monitor has no records for others.
        guard adapter != 0, let opcode else { return h4Capture(packet, direction, at: unixMicroseconds) }
        var frame: [UInt8] = []
        for word in [opcode.rawValue, adapter, UInt16(clamping: packet.count - 1)] {
            frame += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
        }
        frame += packet.dropFirst()
        var record: [UInt8] = []
        _ = write(frame.span.bytes, at: Int64(clamping: unixMicroseconds), of: nil, into: &record)
        return fileHeader + record
    }

    /// A capture with one H4 packet: btsnoop, datalink 1002.
    private static func h4Capture(
        _ packet: [UInt8], _ direction: PacketDirection, at unixMicroseconds: UInt64
    ) -> [UInt8] {
        var bytes: [UInt8] = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
        let isCommandOrEvent = packet.first == 1 || packet.first == 4
        append(UInt32(clamping: packet.count), to: &bytes)
        append(UInt32(clamping: packet.count), to: &bytes)
        append(UInt32(direction == .controllerToHost ? 1 : 0) | (isCommandOrEvent ? 2 : 0), to: &bytes)
        append(UInt32(0), to: &bytes)
        append(UInt64(clamping: unixMicroseconds) &+ UInt64(bitPattern: epoch), to: &bytes)
        return bytes + packet
    }

    private static func word(_ frame: RawSpan, _ offset: Int) -> UInt16? {
        guard let low = frame.byte(at: offset), let high = frame.byte(at: offset + 1) else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }

    /// Most significant octet first.
    private static func append<Value: FixedWidthInteger>(_ value: Value, to bytes: inout [UInt8]) {
        var shift = Value.bitWidth
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> Value(shift)))
        }
    }
}
