/// The CRC of packets on the air (Core 5.4, Vol 6, Part B, 3.1.1).
enum LinkLayerCRC {
    /// The start of advertising packets.
    static let advertising: UInt32 = 0x555555

    /// The remainder of each octet; the shift register is turned around, as octets are sent least significant bit first.
    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { state, _ in state & 1 == 1 ? state >> 1 ^ 0xDA_6000 : state >> 1 }
    }

    /// - Parameters:
    ///   - start: CRCInit, 24 bits.
    ///   - pdu: the header and the payload.
    /// - Returns: the three octets behind the PDU, the first one lowest.
    static func remainder(of pdu: RawSpan, start: UInt32) -> UInt32 {
        var state: UInt32 = 0
        for bit in 0..<24 where start >> bit & 1 == 1 { state |= 1 << (23 - bit) }
        for place in 0..<pdu.byteCount {
            state = state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ pdu.octet(place))]
        }
        return state
    }
}

extension RawSpan {
    /// The octet at `offset`; zero beyond the end.
    @inline(__always)
    func octet(_ offset: Int) -> UInt8 {
        guard offset >= 0, offset < byteCount else { return 0 }
        return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)  // in bounds: checked on the line above
    }

    /// A little-endian integer of `width` octets, at most eight; octets beyond the end count as zero.
    func number(_ offset: Int, width: Int) -> UInt64 {
        (0..<width).reversed().reduce(0) { $0 << 8 | UInt64(octet(offset + $1)) }
    }

    /// At most `count` octets from `start`.
    @_lifetime(copy self)
    func part(_ start: Int, _ count: Int) -> RawSpan {
        let from = min(max(start, 0), byteCount)
        return extracting(from..<(from + min(max(count, 0), byteCount - from)))
    }
}
