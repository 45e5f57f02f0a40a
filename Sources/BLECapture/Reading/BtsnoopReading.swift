/// The numbers of the btsnoop format, all of them big-endian.
enum Btsnoop {
    static let fileHeaderByteCount = 16
    static let recordHeaderByteCount = 24
    /// "btsnoop" and a zero.
    static let identification: UInt64 = 0x6274_736E_6F6F_7000
    static let version: UInt32 = 1
    /// The timestamp of 1970-01-01: microseconds since the year 0 AD.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    static func readHeader(
        _ buffer: inout InputBuffer
    ) throws(CaptureError) -> (CaptureFormat, CaptureReader.Decoder) {
        try CaptureReader.fillHeader(&buffer, fileHeaderByteCount)
        guard buffer.load(at: 0, bigEndian: true) == identification else { throw CaptureError(.unknownFormat) }
        let version: UInt32 = buffer.load(at: 8, bigEndian: true)
        guard version == Self.version else { throw CaptureError(.unsupportedVersion(version)) }
        let number: UInt32 = buffer.load(at: 12, bigEndian: true)
        guard let datalink = BtsnoopDatalink(rawValue: number) else {
            throw CaptureError(.unsupportedLinkType(number))
        }
        buffer.consume(fileHeaderByteCount)
        return (datalink.format, .btsnoop(datalink))
    }
}

/// What the records of a btsnoop file contain.
enum BtsnoopDatalink: UInt32 {
    case unencapsulated = 1001
    case h4 = 1002
    case monitor = 2001

    var format: CaptureFormat {
        switch self {
        case .unencapsulated: .btsnoopUnencapsulated
        case .h4: .btsnoop
        case .monitor: .btsnoopMonitor
        }
    }
}

extension CaptureReader {
    /// Record: original length, included length, flags, cumulative drops (32 bits each), timestamp (64), packet.
    @inline(__always)
    mutating func nextBtsnoop(_ datalink: BtsnoopDatalink) throws(CaptureError) -> FoundRecord? {
        let header = Btsnoop.recordHeaderByteCount
        guard try fill(header) else { return nil }
        let original: UInt32 = buffer.load(at: 0, bigEndian: true)
        let included: UInt32 = buffer.load(at: 4, bigEndian: true)
        let flags: UInt32 = buffer.load(at: 8, bigEndian: true)
        let drops: UInt32 = buffer.load(at: 12, bigEndian: true)
        let time = buffer.load(at: 16, bigEndian: true, as: Int64.self) &- Btsnoop.unixEpoch
        let count = Int(included)
        try fillRecord(header &+ count)
        droppedPacketCount = drops

        switch datalink {
        case .h4:
            let stated: CaptureDirection = flags & 1 == 0 ? .hostToController : .controllerToHost
            let type: UInt8 = count > 0 ? buffer.load(at: header, bigEndian: true) : 0
            return readRecord(
                .packet(direction(ofType: type, stated: stated)), at: header, count: count,
                originalByteCount: Int(original), timestampMicroseconds: time, recordByteCount: header &+ count)
        case .unencapsulated:
            let opcode: MonitorOpcode =
                switch flags & 3 {
                case 0: .sentACLData
                case 1: .receivedACLData
                case 2: .commandPacket
                default: .eventPacket
                }
            return readMonitor(
                opcode: opcode.rawValue, adapter: 0, at: header - 1, count: count, originalByteCount: Int(original),
                timestampMicroseconds: time, recordByteCount: header &+ count)
        case .monitor:
            return readMonitor(
                opcode: UInt16(truncatingIfNeeded: flags), adapter: UInt16(truncatingIfNeeded: flags >> 16),
                at: header - 1, count: count, originalByteCount: Int(original), timestampMicroseconds: time,
                recordByteCount: header &+ count)
        }
    }
}
