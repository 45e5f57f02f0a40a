import BLEPackets

/// The numbers of the format that BlueZ's hcidump writes, all of them little-endian.
enum HCIDump {
    /// Length of the packet (16 bits), whether it was received (8), zero (8), seconds, microseconds (32 bits each). The
    /// H4 packet follows.
    static let recordHeaderByteCount = 12
    /// How many records of an unknown file are checked before it counts as hcidump's.
    private static let recognisedRecordCount = 8

    /// Whether the file looks like this format, which has no magic number.
    ///
    /// PacketLogger in little-endian order looks much like it, so that a record counts only if the length and direction
    /// of its packet agree with it.
    static func recognise(_ buffer: inout InputBuffer) throws(CaptureError) -> Bool {
        do { _ = try buffer.fill(4096) } catch { throw CaptureError(.cannotRead(error)) }
        var position = 0
        for number in 0..<recognisedRecordCount {
            // A record that is not there, or not far enough, does not speak against those before it.
            guard buffer.bufferedCount - position >= recordHeaderByteCount + 4 else { return number > 0 }
            // Damage after two good records is left for the reader to report.
            guard let count = packetByteCount(buffer, at: position) else { return number > 1 }
            position += recordHeaderByteCount + count
        }
        return true
    }

    /// The length of the packet in the record at `position`; `nil` if it is no record.
    private static func packetByteCount(_ buffer: borrowing InputBuffer, at position: Int) -> Int? {
        let count = Int(buffer.load(at: position, bigEndian: false, as: UInt16.self))
        let way: UInt16 = buffer.load(at: position + 2, bigEndian: false)
        let microseconds: UInt32 = buffer.load(at: position + 8, bigEndian: false)
        guard way <= 1, microseconds < 1_000_000 else { return nil }
        let packet = position + recordHeaderByteCount
        func octet(_ place: Int) -> Int { Int(buffer.load(at: packet + place, bigEndian: false, as: UInt8.self)) }
        let stated: Int
        switch H4PacketType(rawValue: UInt8(octet(0))) {
        case .command where way == 0: stated = 4 + octet(3)
        case .event where way == 1: stated = 3 + octet(2)
        case .acl: stated = 5 + octet(3) + octet(4) << 8
        case .sco: stated = 4 + octet(3)
        case .iso: stated = 5 + (octet(3) + octet(4) << 8) & 0x3FFF
        default: return nil
        }
        return count == stated ? count : nil
    }
}

extension CaptureReader {
    mutating func nextHCIDump() throws(CaptureError) -> FoundRecord? {
        let header = HCIDump.recordHeaderByteCount
        guard try fill(header) else { return nil }
        let count = Int(buffer.load(at: 0, bigEndian: false, as: UInt16.self))
        let way: UInt16 = buffer.load(at: 2, bigEndian: false)
        // Direction and padding are the only sign that the framing has been lost.
        guard way <= 1 else { throw failure(.invalidLength(UInt64(way) << 16 | UInt64(count))) }
        try fillRecord(header + count)
        let seconds: UInt32 = buffer.load(at: 4, bigEndian: false)
        let microseconds: UInt32 = buffer.load(at: 8, bigEndian: false)
        let type: UInt8 = count > 0 ? buffer.load(at: header, bigEndian: false) : 0
        return readRecord(
            .packet(direction(ofType: type, stated: way == 1 ? .controllerToHost : .hostToController)), at: header,
            count: count, originalByteCount: count,
            timestampMicroseconds: Int64(seconds) * 1_000_000 + Int64(microseconds), recordByteCount: header + count)
    }
}
