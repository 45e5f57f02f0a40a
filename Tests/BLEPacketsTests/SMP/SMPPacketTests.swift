import BLEPackets
import Testing

/// Security Manager PDUs (Core 5.4, Vol 3, Part H, 3.5 and 3.6).
@Suite struct SMPPacketTests {
    private static let key = (0..<16).map { UInt8($0) }

    static let samples: [[UInt8]] = [
        [0x01, 0x03, 0x00, 0x09, 0x10, 0x0D, 0x0F], [0x02, 0x04, 0x01, 0x2D, 0x07, 0x05, 0x07], [0x03] + key,
        [0x04] + key, [0x05, 0x08], [0x06] + key, [0x07, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0x08] + key,
        [0x09, 0x01, 1, 2, 3, 4, 5, 0xC6], [0x0A] + key, [0x0B, 0x0D], [0x0C] + (0..<64).map { UInt8($0) },
        [0x0D] + key, [0x0E, 0x04],
    ]

    @Test("Decoding and encoding are inverse for every PDU", arguments: samples)
    func roundTrip(pdu: [UInt8]) throws {
        let packet = try SMPPacket(pdu.span.bytes)
        #expect(packet.encoded() == pdu)
        #expect(packet.opcode.rawValue == pdu[0])
    }

    @Test("A PDU that is truncated anywhere, or continues, is refused", arguments: samples)
    func lengths(pdu: [UInt8]) {
        for count in 0..<pdu.count {
            let cut = [UInt8](pdu.prefix(count))
            #expect(throws: (any Error).self) { try SMPPacket(cut.span.bytes) }
        }
        let long = pdu + [0]
        #expect(throws: (any Error).self) { try SMPPacket(long.span.bytes) }
    }

    @Test("Values outside their ranges are refused")
    func ranges() {
        let broken: [[UInt8]] = [
            [0x01, 0x05, 0, 1, 16, 0, 0], [0x01, 0x00, 2, 1, 16, 0, 0], [0x01, 0, 0, 1, 6, 0, 0],
            [0x01, 0, 0, 1, 17, 0, 0], [0x09, 2, 0, 0, 0, 0, 0, 0], [0x0E, 5],
        ]
        for pdu in broken { #expect(throws: (any Error).self) { try SMPPacket(pdu.span.bytes) } }
    }

    @Test("A reserved code is distinguished from a malformed PDU", arguments: [0x00, 0x0F, 0x80, 0xFF] as [UInt8])
    func reserved(code: UInt8) {
        let pdu = [code, 1, 2]
        do throws(DecodingError) {
            _ = try SMPPacket(pdu.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(UInt64(code), field: .opcode))
        }
    }

    @Test("No description shows a key", arguments: samples)
    func secrets(pdu: [UInt8]) throws {
        let packet = try SMPPacket(pdu.span.bytes)
        var dumped = ""
        dump(packet, to: &dumped)
        for text in [packet.description, "\(packet)", String(reflecting: packet), dumped] {
            #expect(!text.contains("0x") && !text.contains("[") && text.count < 80, "\(text)")
        }
    }
}
