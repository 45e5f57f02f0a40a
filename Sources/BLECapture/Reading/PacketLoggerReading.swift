/// The numbers of Apple's PacketLogger format.
enum PacketLogger {
    /// Length, seconds, microseconds (32 bits each) and type; the length counts all but itself.
    static let recordHeaderByteCount = 13
    static let command: UInt8 = 0x00
    static let event: UInt8 = 0x01
    static let sentACLData: UInt8 = 0x02
    static let receivedACLData: UInt8 = 0x03
    static let sentSCOData: UInt8 = 0x08
    static let receivedSCOData: UInt8 = 0x09
    /// How many records of an unknown file are checked before it counts as PacketLogger's.
    private static let recognisedRecordCount = 8

    /// Whether the file looks like this format, which has no magic number, and its order of octets.
    static func recognise(_ buffer: inout InputBuffer) throws(CaptureError) -> Bool? {
        do { _ = try buffer.fill(4096) } catch { throw CaptureError(.cannotRead(error)) }
        for isBigEndian in [true, false] where isPlausible(buffer, isBigEndian) { return isBigEndian }
        return nil
    }

    private static func isPlausible(_ buffer: borrowing InputBuffer, _ isBigEndian: Bool) -> Bool {
        var position = 0
        for number in 0..<recognisedRecordCount {
            guard buffer.bufferedCount - position >= recordHeaderByteCount else { return number > 0 }
            let length: UInt32 = buffer.load(at: position, bigEndian: isBigEndian)
            let microseconds: UInt32 = buffer.load(at: position + 8, bigEndian: isBigEndian)
            let type: UInt8 = buffer.load(at: position + 12, bigEndian: isBigEndian)
            let isKnown = type <= 0x12 || type >= 0xF0
            guard isKnown, length >= 9, length <= 0x1_0100, microseconds < 1_000_000 else {
                // Damage after a good first record is left for the reader to report.
                return number > 0
            }
            position += 4 + Int(length)
        }
        return true
    }

    /// The monitor opcode of the packets in records of this type; `nil` for notes.
    @inline(__always)
    static func opcode(of type: UInt8) -> MonitorOpcode? {
        switch type {
        case command: .commandPacket
        case event: .eventPacket
        case sentACLData: .sentACLData
        case receivedACLData: .receivedACLData
        case sentSCOData: .sentSCOData
        case receivedSCOData: .receivedSCOData
        default: nil
        }
    }
}

extension CaptureReader {
    mutating func nextPacketLogger(bigEndian: Bool) throws(CaptureError) -> FoundRecord? {
        let header = PacketLogger.recordHeaderByteCount
        guard try fill(4) else { return nil }
        let length: UInt32 = buffer.load(at: 0, bigEndian: bigEndian)
        guard length >= header - 4 else { throw failure(.invalidLength(UInt64(length))) }
        let recordByteCount = 4 + Int(length)
        try fillRecord(recordByteCount)
        let seconds: UInt32 = buffer.load(at: 4, bigEndian: bigEndian)
        let microseconds: UInt32 = buffer.load(at: 8, bigEndian: bigEndian)
        let type: UInt8 = buffer.load(at: 12, bigEndian: bigEndian)
        let time = Int64(seconds) * 1_000_000 + Int64(microseconds)
        let count = recordByteCount - header
        guard let opcode = PacketLogger.opcode(of: type) else {
            return readRecord(
                .note(.packetLogger(type)), at: header, count: count, originalByteCount: count,
                timestampMicroseconds: time, recordByteCount: recordByteCount)
        }
        return readMonitor(
            opcode: opcode.rawValue, adapter: 0, at: header - 1, count: count, originalByteCount: count,
            timestampMicroseconds: time, recordByteCount: recordByteCount)
    }
}
