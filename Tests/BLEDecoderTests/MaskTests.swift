import BLECapture
import Testing

@testable import BLEDecoder

@Suite("Bits with names")
struct MaskTests {
    private func text(_ packet: [UInt8], _ style: DecodingStyle = .text(isColoured: false)) throws -> String {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop([packet]) { _ in packet[0] == 4 })
        var decoder = CaptureDecoder(style: style)
        while let record = try reader.next() { decoder.decode(record) }
        return unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    @Test("LE features are counted and named; in JSON the octets stay, with the names beside them")
    func features() throws {
        let packet: [UInt8] = [4, 0x0E, 12, 1, 0x03, 0x20, 0, 0x01, 0x11, 0, 0, 0, 0, 0, 0x80]
        let all = "LE Encryption, LE 2M PHY, Extended Advertising, LL Extended Feature Set"
        #expect(try text(packet).contains("      LE Features: 4 of 64: \(all)\n"))
        let names = #""leFeatures":"0111000000000080","leFeaturesNames":["LE Encryption","LE 2M PHY","#
        #expect(try text(packet, .json).contains(names))
    }

    @Test("event masks name their events, each by its own numbering")
    func eventMasks() throws {
        let classic = try text([1, 0x01, 0x0C, 8, 0x10, 0x80, 0, 0, 0, 0, 0, 0x20])
        #expect(classic.contains("Event Mask: 3 of 64: Disconnection Complete, Hardware Error, LE Meta"))
        let second = try text([1, 0x63, 0x0C, 8, 0, 0, 0x80, 0, 0, 0, 0, 0])
        #expect(second.contains("Event Mask Page 2: 1 of 64: Authenticated Payload Timeout Expired"))
        let le = try text([1, 0x01, 0x20, 8, 0x03, 0x10, 0, 0, 0, 0, 0, 0x40])
        #expect(le.contains("LE Event Mask: 4 of 64: LE Connection Complete, LE Advertising Report, "))
        #expect(le.contains(", bit 62\n"))
    }

    @Test("channel maps show ranges, requirements their words")
    func others() throws {
        let map = try text([1, 0x14, 0x20, 5, 0xFF, 0x05, 0, 0, 0x1F])
        #expect(map.contains("LE Channel Map: 15 of 40: 0 to 8, 10, 32 to 36"))
        let pairing = CaptureDecoderTests.frame(6, [1, 3, 0, 0x0D, 16, 0x03, 0])
        #expect(try text(pairing).contains("Authentication Requirements: 0x0d: bonding, MITM, secure connections"))
        #expect(try text(pairing).contains("Initiator Key Distribution: 0x03: encryption key, identity"))
        #expect(try text(pairing).contains("Responder Key Distribution: 0x00\n"))
        #expect(try text([1, 0x14, 0x20, 5, 0, 0, 0, 0, 0]).contains("LE Channel Map: 0 of 40\n"))
    }
}
