/// A packet of the three-wire transport: header, payload and an optional CRC (Core 5.4, Vol 4, Part D, 4).
struct ThreeWireFrame: Equatable {
    /// The longest payload that the header can state.
    static let maximumPayloadByteCount = 0xFFF
    static let acknowledgement: UInt8 = 0
    static let linkControl: UInt8 = 15

    /// 0…7; counts reliable packets.
    var sequenceNumber: UInt8 = 0
    /// The sequence number that the sender expects next.
    var acknowledgementNumber: UInt8 = 0
    var isReliable = false
    /// 0 acknowledgement, 1…5 as in H4, 14 vendor, 15 link control.
    var type: UInt8
    var payload: [UInt8] = []

    /// The octets in the frame.
    /// - Precondition: the payload is not longer than the maximum.
    func encoded(withCRC hasCRC: Bool) -> [UInt8] {
        let length = payload.count
        var octets: [UInt8] = [
            sequenceNumber & 7 | (acknowledgementNumber & 7) << 3 | (hasCRC ? 0x40 : 0) | (isReliable ? 0x80 : 0),
            type & 0x0F | UInt8(truncatingIfNeeded: length & 0x0F) << 4,
            UInt8(truncatingIfNeeded: length >> 4),
        ]
        octets.append(~(octets[0] &+ octets[1] &+ octets[2]))
        octets += payload
        guard hasCRC else { return octets }
        let check = Self.checksum(of: octets[...])
        return octets + [UInt8(truncatingIfNeeded: check >> 8), UInt8(truncatingIfNeeded: check)]
    }

    init(type: UInt8, payload: [UInt8] = [], isReliable: Bool = false) {
        self.type = type
        self.payload = payload
        self.isReliable = isReliable
    }

    /// Reads the octets of a frame; `nil` if the header's checksum, the length or the CRC does not fit.
    init?(decoding octets: [UInt8]) {
        guard octets.count >= 4, octets[0] &+ octets[1] &+ octets[2] &+ octets[3] == 0xFF else { return nil }
        let hasCRC = octets[0] & 0x40 != 0
        let end = 4 + (Int(octets[1] >> 4) | Int(octets[2]) << 4)
        guard octets.count == end + (hasCRC ? 2 : 0) else { return nil }
        if hasCRC, Self.checksum(of: octets[..<end]) != UInt16(octets[end]) << 8 | UInt16(octets[end + 1]) {
            return nil
        }
        sequenceNumber = octets[0] & 7
        acknowledgementNumber = octets[0] >> 3 & 7
        isReliable = octets[0] & 0x80 != 0
        type = octets[1] & 0x0F
        payload = Array(octets[4..<end])
    }

    /// CRC-CCITT, each octet from its least significant bit on; the result is sent from its most significant bit on.
    static func checksum(of octets: ArraySlice<UInt8>) -> UInt16 {
        var crc: UInt16 = 0xFFFF
        for octet in octets {
            crc ^= UInt16(octet)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        var reversed: UInt16 = 0
        for bit in 0..<16 where crc >> UInt16(bit) & 1 == 1 { reversed |= 0x8000 >> UInt16(bit) }
        return reversed
    }
}
