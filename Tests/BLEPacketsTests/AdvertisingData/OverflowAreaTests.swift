import Testing

@testable import BLEPackets

@Suite("Overflow area")
struct OverflowAreaTests {
    /// SPEC 3.3: row r, column c holds the last octet of the smallest UUID that sets bit 8r + c.
    static let smallestUUIDs: [[UInt8]] = [
        [0x00, 0x4B, 0x12, 0x59, 0x25, 0x6E, 0x37, 0x7C], [0x4A, 0x01, 0x58, 0x13, 0x6F, 0x24, 0x7D, 0x36],
        [0x10, 0x5B, 0x02, 0x49, 0x35, 0x7E, 0x27, 0x6C], [0x5A, 0x11, 0x48, 0x03, 0x7F, 0x34, 0x6D, 0x26],
        [0x21, 0x6A, 0x33, 0x78, 0x04, 0x4F, 0x16, 0x5D], [0x6B, 0x20, 0x79, 0x32, 0x4E, 0x05, 0x5C, 0x17],
        [0x31, 0x7A, 0x23, 0x68, 0x14, 0x5F, 0x06, 0x4D], [0x7B, 0x30, 0x69, 0x22, 0x5E, 0x15, 0x4C, 0x07],
        [0x42, 0x09, 0x50, 0x1B, 0x67, 0x2C, 0x75, 0x3E], [0x08, 0x43, 0x1A, 0x51, 0x2D, 0x66, 0x3F, 0x74],
        [0x52, 0x19, 0x40, 0x0B, 0x77, 0x3C, 0x65, 0x2E], [0x18, 0x53, 0x0A, 0x41, 0x3D, 0x76, 0x2F, 0x64],
        [0x63, 0x28, 0x71, 0x3A, 0x46, 0x0D, 0x54, 0x1F], [0x29, 0x62, 0x3B, 0x70, 0x0C, 0x47, 0x1E, 0x55],
        [0x73, 0x38, 0x61, 0x2A, 0x56, 0x1D, 0x44, 0x0F], [0x39, 0x72, 0x2B, 0x60, 0x1C, 0x57, 0x0E, 0x45],
    ]

    @Test("every bit is set by the UUID that the table of SPEC 3.3 names")
    func table() {
        for (row, line) in Self.smallestUUIDs.enumerated() {
            for (column, last) in line.enumerated() {
                let uuid = BluetoothUUID(high: 0, low: UInt64(last))
                #expect(OverflowArea.bit(of: uuid) == 8 * row + column)
                var mask = [UInt8](repeating: 0, count: 16)
                mask[row] = 1 << UInt8(column)
                #expect(OverflowArea(hashing: [uuid]).mask == mask)
            }
        }
    }

    @Test(
        "every UUID that was seen on air sets the bit that was seen (SPEC 3.2)",
        arguments: [
            ("C007", 36), ("C008", 59), ("1001", 57), ("3333", 57), ("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", 83),
            ("428132AF-4746-42D3-801E-4572D65BFD9B", 85), ("C1F5983C-FA94-4AC8-8E2E-BB86D6DE9B21", 78),
            ("3AC5", 109), ("9AA4730F-B25C-4CC3-B821-C931559FC196", 66), ("1800", 108), ("180A", 1), ("180D", 61),
            ("180F", 115), ("FE59", 4), ("FCF6", 61), ("FD6F", 89), ("2FA2FD8A-17E0-4D3B-AF45-305DA6130E39", 6),
            ("5FA2FD8A-17E0-4D3B-AF45-305DA6130E39", 22), ("4FA2FD8A-17E0-4D3B-AF45-305DA6130E39", 35),
            ("3FA2FD8A-17E0-4D3B-AF45-305DA6130E39", 51), ("7905F431-B5CE-4E99-A40F-4B1E122D00D0", 126),
            ("D0611E78-BBB4-4591-A5F8-487910AE4366", 111),
        ])
    func evidence(text: String, bit: Int) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(OverflowArea.bit(of: uuid) == bit)
        #expect(OverflowArea.bit(of: uuid.expanded) == bit)
    }

    @Test("the hash is linear: the bit of a sum is the sum of the bits (SPEC 3.2)")
    func linear() {
        var random = FixedSeedGenerator(seed: 7)
        for _ in 0..<1000 {
            let a = BluetoothUUID(high: random.next(), low: random.next())
            let b = BluetoothUUID(high: random.next(), low: random.next())
            let sum = BluetoothUUID(high: a.high ^ b.high, low: a.low ^ b.low)
            #expect(OverflowArea.bit(of: sum) == OverflowArea.bit(of: a) ^ OverflowArea.bit(of: b))
        }
    }

    @Test(
        "the captures of SPEC 8 show the UUIDs that were hidden in them",
        arguments: [
            ("02 01 1A 14 FF 4C 00 01 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00", nil, ["C007"]),
            ("02 01 1A 14 FF 4C 00 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00", nil, ["1001", "3333"]),
            (
                "02 01 1A 14 FF 4C 00 01 00 00 00 00 00 00 00 00 00 00 08 00 00 00 00 00", nil,
                ["2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"]
            ),
            (
                "02 01 1A 02 0A 0C 0B FF 4C 00 10 06 07 1E A3 DD 89 E0",
                "14 FF 4C 00 01 00 00 00 00 00 00 00 00 00 00 20 00 00 00 00 00",
                ["428132AF-4746-42D3-801E-4572D65BFD9B"]
            ),
            ("02 01 1A 14 FF 4C 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 20 00 00", nil, ["3AC5"]),
            (
                "02 01 1A 11 06 39 0E 13 A6 5D 30 45 AF 3B 4D E0 17 8A FD A2 1F 09 09 75 79 6E 67 75 79 65 6E",
                "14 FF 4C 00 01 40 00 40 00 08 00 08 00 00 00 00 00 00 00 00 00",
                [
                    "2FA2FD8A-17E0-4D3B-AF45-305DA6130E39", "5FA2FD8A-17E0-4D3B-AF45-305DA6130E39",
                    "4FA2FD8A-17E0-4D3B-AF45-305DA6130E39", "3FA2FD8A-17E0-4D3B-AF45-305DA6130E39",
                ]
            ),
        ] as [(String, String?, [String])])
    func captures(advertisement: String, scanResponse: String?, hidden: [String]) throws {
        let first = octets(advertisement)
        let second = octets(scanResponse ?? "")
        let data = AdvertisingData(advertisement: first.span.bytes, scanResponse: second.span.bytes)
        let uuids = try hidden.map { try #require(BluetoothUUID($0)) }
        let others = [BluetoothUUID(0x180F as UInt16), BluetoothUUID(0x1800 as UInt16)]
        #expect(data.hashedServiceUUIDs(scanFor: others + uuids) == uuids)
        #expect(data.matches(scanFor: uuids))
        #expect(!data.matches(scanFor: others))
        #expect(!data.matches(scanFor: []))
        #expect(data.overflowArea == OverflowArea(hashing: uuids))
        #expect(data.faults.isEmpty)
    }

    @Test("a scan for 3333 finds an advertisement of 1001, which has the same bit: a match is a guess (scenario 22)")
    func collision() {
        let area = OverflowArea(hashing: [BluetoothUUID(0x1001 as UInt16)])
        let other = BluetoothUUID(0x3333 as UInt16)
        #expect(area.matches(scanFor: [other, other]) == [other])
        #expect(area.setBitCount == 1)
        #expect(area.falseMatchProbability == 1.0 / 128)
    }

    @Test("a mask that is split between advertisement and scan response is joined before matching (SPEC 3.6)")
    func split() throws {
        let a = BluetoothUUID(0xC007 as UInt16)
        let b = BluetoothUUID(0xC008 as UInt16)
        let first = try structure(OverflowArea(hashing: [a]), company: OverflowArea.company)
        let second = try structure(OverflowArea(hashing: [b]), company: OverflowArea.company)
        let data = AdvertisingData(advertisement: first.span.bytes, scanResponse: second.span.bytes)
        #expect(data.hashedServiceUUIDs(scanFor: [b, a]) == [b, a])
        #expect(data.overflowArea == OverflowArea(hashing: [a, b]))
    }

    @Test(
        "other data of the same company is not an overflow area (SPEC 3.6)",
        arguments: [
            "02 01 1A 14 FF 4C 00 02 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00",
            "02 01 1A 14 FF 4D 00 01 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00",
            "02 01 1A 13 FF 4C 00 01 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00",
            "02 01 1A 15 FF 4C 00 01 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00",
            "02 01 1A 0B FF 4C 00 10 06 07 1E A3 DD 89 E0", "02 01 1A 03 FF 4C 00", "02 01 1A 04 FF 4C 00 01",
        ])
    func others(hexadecimal: String) {
        let bytes = octets(hexadecimal)
        let data = AdvertisingData(advertisement: bytes.span.bytes)
        #expect(data.overflowArea == nil)
        #expect(data.manufacturerData.count == 1)
        #expect(data.hashedServiceUUIDs(scanFor: [BluetoothUUID(0xC007 as UInt16)]) == [])
    }

    @Test("a mask comes back from its 21 octets, under any company")
    func inverse() throws {
        var random = FixedSeedGenerator(seed: 8)
        for _ in 0..<500 {
            let uuids = (0..<Int(random.next() % 12)).map { _ in BluetoothUUID(high: random.next(), low: random.next())
            }
            let area = OverflowArea(hashing: uuids)
            let company = UInt16(truncatingIfNeeded: random.next())
            let bytes = try structure(area, company: company)
            #expect(bytes.count == OverflowArea.structureByteCount)
            let data = bytes.span.bytes.extracting(droppingFirst: 2)
            #expect(OverflowArea(manufacturerSpecificData: data, company: company) == area)
            #expect(area.matches(scanFor: uuids) == uuids)
            #expect(area.isEmpty == uuids.isEmpty)
            for uuid in uuids { #expect(area.intersects(OverflowArea(hashing: [uuid]))) }
            #expect((0..<128).filter { area.contains(bit: $0) }.count == area.setBitCount)
        }
        #expect(!OverflowArea(hashing: [BluetoothUUID(high: 0, low: 0)]).contains(bit: 128))
        #expect(!OverflowArea(hashing: [BluetoothUUID(high: 0, low: 0)]).contains(bit: -1))
    }

    private func structure(_ area: OverflowArea, company: UInt16) throws -> [UInt8] {
        var writer = AdvertisingDataWriter()
        try writer.append(area, company: company)
        return writer.bytes
    }
}
