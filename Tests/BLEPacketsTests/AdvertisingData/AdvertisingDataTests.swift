import Testing

@testable import BLEPackets

@Suite("Advertising data")
struct AdvertisingDataTests {
    func read(_ advertisement: String, _ scanResponse: String? = nil) -> AdvertisingData {
        let first = octets(advertisement)
        guard let scanResponse else { return AdvertisingData(advertisement: first.span.bytes) }
        let second = octets(scanResponse)
        return AdvertisingData(advertisement: first.span.bytes, scanResponse: second.span.bytes)
    }

    @Test("an iPhone in the foreground: flags, one UUID, a name (SPEC 8)")
    func foreground() {
        let data = read("02 01 1A 03 03 07 C0 05 09 46 72 65 64")
        #expect(data.flags == 0x1A)
        #expect(data.serviceUUIDs == [BluetoothUUID(0xC007 as UInt16)])
        #expect(data.localName == "Fred")
        #expect(data.isNameComplete)
        #expect(data.faults.isEmpty)
        let long = read("02 01 1A 11 07 FB 34 9B 5F 80 00 00 80 00 10 00 00 C5 3A 00 00 07 09 54 65 73 74 65 72")
        #expect(long.serviceUUIDs == [BluetoothUUID(0x3AC5 as UInt16)])
        #expect(long.localName == "Tester")
    }

    @Test("a complete name beats a shortened one, in whatever order they come")
    func names() {
        #expect(read("04 08 42 61 72 04 09 46 6F 6F").localName == "Foo")
        #expect(read("04 09 46 6F 6F 04 08 42 61 72").localName == "Foo")
        #expect(read("04 08 42 61 72", "04 09 46 6F 6F").localName == "Foo")
        let shortened = read("04 08 42 61 72")
        #expect(shortened.localName == "Bar")
        #expect(!shortened.isNameComplete)
        #expect(read("04 08 42 61 72 01 09").localName == "Bar")
        #expect(read("01 09").localName == "")
        #expect(read("02 01 06").localName == nil)
    }

    @Test("a name that is not UTF-8 is repaired, and one that begins with a zero is not text")
    func brokenNames() {
        #expect(read("04 09 41 FF 42").localName == "A\u{FFFD}B")
        #expect(read("04 09 41 E2 80").localName == "A\u{FFFD}")
        #expect(read("09 09 00 55 00 54 00 46 00 2D").localName == "")
        let padded = read("06 09 41 42 00 00 00")
        #expect(padded.localName == "AB\0\0\0")
        #expect(padded.localNameWithoutPadding == "AB")
    }

    @Test("each UUID is listed once, in the order of its first appearance, over all widths and both packets")
    func uuids() throws {
        let data = read("07 03 0D 18 0F 18 0D 18 05 05 0D 18 00 00", "05 02 0F 18 0A 18")
        #expect(data.serviceUUIDs.map(\.description) == ["180D", "180F", "180A"])
        let solicited = read("03 14 0D 18 05 1F 78 56 34 12 03 14 0D 18")
        #expect(solicited.solicitedServiceUUIDs.map(\.description) == ["180D", "12345678"])
        #expect(solicited.serviceUUIDs.isEmpty)
    }

    @Test("manufacturer and service data may be empty, and may come several times")
    func opaqueData() {
        let data = read("03 FF 4C 00 04 FF 4C 00 01 04 FF 59 00 02 03 16 03 FE 04 16 03 FE 07")
        #expect(
            data.manufacturerData == [
                .init(company: 0x4C, data: []), .init(company: 0x4C, data: [1]), .init(company: 0x59, data: [2]),
            ])
        let uuid = BluetoothUUID(0xFE03 as UInt16)
        #expect(data.serviceData == [.init(uuid: uuid, data: []), .init(uuid: uuid, data: [7])])
        #expect(data.faults.isEmpty)
    }

    @Test("what a scan response repeats is not listed again")
    func repetition() {
        let packet = "02 01 06 04 FF 59 00 02 04 16 03 FE 07 03 03 0D 18 02 0A 04 03 19 41 03"
        let once = read(packet)
        #expect(read(packet, packet) == once)
        #expect(once.txPower == 4)
        #expect(once.appearance == 0x0341)
    }

    @Test("a malformed structure costs only itself")
    func faults() {
        let data = read("03 0A 00 80 02 FF 4C 02 20 01 04 02 11 22 33 02 01 06")
        #expect(data.txPower == nil)
        #expect(data.manufacturerData.isEmpty)
        #expect(data.serviceData.isEmpty)
        #expect(data.serviceUUIDs.map(\.description) == ["2211"])
        #expect(data.flags == 6)
        #expect(
            data.faults.map(\.reason) == [
                .structure(.txPowerLevel, .trailingBytes(1)),
                .structure(.manufacturerSpecificData, .truncated(needed: 2, remaining: 1)),
                .structure(.serviceData32, .truncated(needed: 4, remaining: 1)),
                .structure(.incompleteServiceUUIDs16, .truncated(needed: 2, remaining: 1)),
            ])
    }

    @Test("of a structure truncated at the end only complete UUIDs are kept")
    func cutOff() {
        #expect(read("02 01 06 09 03 0D 18 0F 18 0A").serviceUUIDs.map(\.description) == ["180D", "180F"])
        #expect(read("14 09 54 52 58").localName == nil)
        let manufacturer = read("04 FF 01 01")
        #expect(manufacturer.manufacturerData.isEmpty)
        #expect(
            manufacturer.faults == [
                .init(
                    packet: .advertisement,
                    reason: .structure(.manufacturerSpecificData, .truncated(needed: 4, remaining: 3)))
            ])
        #expect(
            read("", "01").faults == [
                .init(packet: .scanResponse, reason: .structure(nil, .truncated(needed: 1, remaining: 0)))
            ])
        #expect(
            manufacturer.faults.first?.description
                == "advertisement: structure 0xFF is cut off: 4 octets needed, 3 there")
    }

    @Test("data after zeros is read, as when a padded advertisement and its scan response come in one")
    func paddedPair() {
        let data = read("02 01 06 04 FF 59 00 02 00 00 00 04 16 00 0D 48 00 00")
        #expect(data.flags == 6)
        #expect(data.serviceData == [.init(uuid: BluetoothUUID(0x0D00 as UInt16), data: [0x48])])
        #expect(data.faults == [.init(packet: .advertisement, reason: .nonZeroPadding)])
        #expect(read("02 01 06 00 00").faults.isEmpty)
        #expect(read("00 01 00 00 01 00 00 01 01").faults.count == 1)  // once, however many gaps there are
    }

    @Test("random bytes never trap, and nothing grows beyond them")
    func randomBytes() {
        var random = FixedSeedGenerator(seed: 6)
        for turn in 0..<20_000 {
            var bytes = random.octets(count: Int(random.next() % 64))
            if turn % 2 == 0 {
                for index in bytes.indices where bytes[index] > 0x31 && bytes[index] < 0xF0 { bytes[index] &= 0x0F }
            }
            let data = AdvertisingData(advertisement: bytes.span.bytes, scanResponse: bytes.span.bytes)
            #expect(data.faults.count <= 2 * bytes.count)
            #expect(2 * data.serviceUUIDs.count <= bytes.count)
            for fault in data.faults { #expect(!fault.description.isEmpty) }
        }
    }

    @Test("every prefix of an advertisement is read as far as it goes")
    func prefixes() {
        let bytes = octets(
            "02 01 1A 11 06 39 0E 13 A6 5D 30 45 AF 3B 4D E0 17 8A FD A2 1F 09 09 75 79 6E 67 75 79 65 6E")
        for count in 0...bytes.count {
            let data = AdvertisingData(advertisement: bytes.span.bytes.extracting(first: count))
            let isAtBoundary = [0, 3, 21, 31].contains(count)
            #expect(data.faults.isEmpty == isAtBoundary)
            #expect((data.flags != nil) == (count >= 3))
            #expect(data.serviceUUIDs.count == (count >= 21 ? 1 : 0))
            #expect((data.localName != nil) == (count == 31))
        }
    }
}
