import Testing

@testable import BLEPackets

@Suite("Bluetooth UUIDs")
struct BluetoothUUIDTests {
    @Test(
        "text of 4, 8 and 36 characters is read, with 0x before the short forms (SPEC MOD-9)",
        arguments: [
            ("0000", 2, "00000000-0000-1000-8000-00805F9B34FB"),
            ("0x1234", 2, "00001234-0000-1000-8000-00805F9B34FB"),
            ("180d", 2, "0000180D-0000-1000-8000-00805F9B34FB"),
            ("12345678", 4, "12345678-0000-1000-8000-00805F9B34FB"),
            ("0X12345678", 4, "12345678-0000-1000-8000-00805F9B34FB"),
            ("f0000000-0000-1000-8000-00805f9b34fb", 16, "F0000000-0000-1000-8000-00805F9B34FB"),
            ("71DA3FD1-7E10-41C1-B16F-4430B506CDE7", 16, "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"),
        ])
    func parses(text: String, width: UInt8, full: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.width.rawValue == width)
        #expect(uuid.fullDescription == full)
        #expect(uuid == BluetoothUUID(full))
    }

    @Test(
        "text of another form is refused",
        arguments: [
            "", "0", "012", "0x12", "0x123", "18 D", "xxxx", "01234", "0123456", "012345678", "0x1234567",
            "00001234-0000-1000-8000-00805F9B34F", "00001234-0000-1000-8000 00805F9B34FB",
            "00001234-0000-1000-8000-00805F9B34FBC", "00001234-0000-1000-800G-00805F9B34FB",
            "0000123400001000800000805F9B34FB", "{0001234-0000-1000-8000-00805F9B34FB",
        ])
    func refuses(text: String) { #expect(BluetoothUUID(text) == nil) }

    @Test("a UUID on the Bluetooth base prints short, another one in full and upper case")
    func prints() {
        #expect(BluetoothUUID(0x180D as UInt16).description == "180D")
        #expect(BluetoothUUID("0000180d-0000-1000-8000-00805f9b34fb")?.description == "180D")
        #expect(BluetoothUUID("12345678-0000-1000-8000-00805f9b34fb")?.description == "12345678")
        let foreign = "71da3fd1-7e10-41c1-b16f-4430b506cde7"
        #expect(BluetoothUUID(foreign)?.description == foreign.uppercased())
    }

    @Test("the same UUID in two widths is one UUID, and has one hash")
    func equality() throws {
        let full = try #require(BluetoothUUID("0000180D-0000-1000-8000-00805F9B34FB"))
        let short = BluetoothUUID(0x180D as UInt16)
        #expect(full == short)
        #expect(Set([full, short, BluetoothUUID(0x180D as UInt32)]).count == 1)
        #expect(full.width != short.width)
        #expect(full != BluetoothUUID(0x180E as UInt16))
    }

    @Test("a UUID is shortened to 16 bits or not at all, as ATT has no other form")
    func shortens() throws {
        let sixteen = try #require(BluetoothUUID("00001234-0000-1000-8000-00805F9B34FB"))
        #expect(sixteen.shortened.width == .bits16)
        #expect(sixteen.shortValue == 0x1234)
        let thirtyTwo = BluetoothUUID(0xF000_0000 as UInt32)
        #expect(thirtyTwo.shortened.width == .bits128)
        #expect(thirtyTwo.shortValue == nil)
        #expect(thirtyTwo.isOnBase)
        #expect(BluetoothUUID(0x1234 as UInt16).expanded.width == .bits128)
    }

    @Test("octets are least significant first in packets and in textual order in `bytes`")
    func octetOrder() throws {
        let uuid = try #require(BluetoothUUID("00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(uuid.bytes == octets("00112233445566778899AABBCCDDEEFF"))
        #expect(encoded(uuid) == octets("FFEEDDCCBBAA99887766554433221100"))
        #expect(encoded(BluetoothUUID(0x180D as UInt16)) == [0x0D, 0x18])
        #expect(encoded(BluetoothUUID(0x1234_5678 as UInt32)) == [0x78, 0x56, 0x34, 0x12])
    }

    @Test("encoding and decoding are inverse in every width, and every prefix is an error")
    func inverse() throws {
        var random = FixedSeedGenerator(seed: 1)
        for _ in 0..<300 {
            for width in [BluetoothUUID.Width.bits16, .bits32, .bits128] {
                let bytes = random.octets(count: Int(width.rawValue))
                var reader = PacketReader(bytes.span.bytes)
                let uuid = try BluetoothUUID(decoding: &reader, width: width)
                #expect(reader.remainingCount == 0)
                #expect(uuid.width == width)
                #expect(encoded(uuid) == bytes)
                #expect(BluetoothUUID(uuid.fullDescription) == uuid)
                #expect(BluetoothUUID(uuid.description) == uuid)
                for count in 0..<bytes.count { expectTruncated(bytes, count: count, width: width) }
            }
        }
    }

    private func expectTruncated(_ bytes: [UInt8], count: Int, width: BluetoothUUID.Width) {
        var reader = PacketReader(bytes.span.bytes.extracting(first: count))
        do throws(DecodingError) {
            _ = try BluetoothUUID(decoding: &reader, width: width)
            Issue.record("decoded \(count) octets as \(width)")
        } catch {
            #expect(error == .truncated(needed: Int(width.rawValue), remaining: count))
        }
    }

    private func encoded(_ uuid: BluetoothUUID) -> [UInt8] {
        var packet = PacketWriter()
        uuid.encode(into: &packet)
        return packet.bytes
    }

    @Test(
        "every UUID of the shared vectors is parsed, shortened or refused as they say",
        .enabled(if: SharedVectors.has("uuid_vectors.json"), "needs uuid_vectors.json, see JELLING_VECTORS"))
    func sharedVectors() throws {
        let vectors = try SharedVectors.load("uuid_vectors.json", as: Vectors.self)
        for vector in vectors.parse {
            let uuid = try #require(BluetoothUUID(vector.string), "\(vector.string)")
            #expect(uuid.fullDescription == vector.uuid128.uppercased())
            let types: [BluetoothUUID.Width: String] = [.bits16: "uuid16", .bits32: "uuid32", .bits128: "uuid128"]
            #expect(types[uuid.width] == vector.type)
        }
        for vector in vectors.compress {
            let shortened = try #require(BluetoothUUID(vector.uuid128), "\(vector.uuid128)").shortened
            #expect(shortened.width == (vector.shortestType == "uuid16" ? .bits16 : .bits128))
            if let value = vector.value { #expect(shortened.description == value.uppercased()) }
        }
        for text in vectors.malformedStrings { #expect(BluetoothUUID(text) == nil, "\(text)") }
        #expect(!vectors.parse.isEmpty || !vectors.compress.isEmpty || !vectors.malformedStrings.isEmpty)
    }

    private struct Vectors: Decodable {
        struct Parse: Decodable {
            var string: String
            var type: String
            var uuid128: String
        }
        struct Compress: Decodable {
            var uuid128: String
            var shortestType: String
            var value: String?
        }
        var parse: [Parse]
        var compress: [Compress]
        var malformedStrings: [String]
    }
}
