import Testing

@testable import BLEPackets

@Suite("Advertising data writer")
struct AdvertisingDataWriterTests {
    @Test("structures are written as iOS writes them (SPEC 8)")
    func foreground() throws {
        var writer = AdvertisingDataWriter()
        try writer.append(AdvertisingFlags(rawValue: 0x1A))
        try writer.append(serviceUUIDs: [BluetoothUUID(0xC007 as UInt16)], areComplete: true)
        try writer.append(localName: "Fred")
        #expect(writer.bytes == octets("02 01 1A 03 03 07 C0 05 09 46 72 65 64"))
        #expect(writer.remainingCount == 18)
    }

    @Test("what does not fit is refused as a whole, says how much it needs, and leaves the rest as it was")
    func doesNotFit() throws {
        var writer = AdvertisingDataWriter(capacity: 10)
        try writer.append(localName: "Fred")
        let before = writer.bytes
        do throws(AdvertisingDataWriter.DoesNotFit) {
            try writer.append(
                serviceUUIDs: [BluetoothUUID(1 as UInt16), BluetoothUUID(2 as UInt16)], areComplete: true)
            Issue.record("written")
        } catch {
            #expect(error == AdvertisingDataWriter.DoesNotFit(needed: 6, remaining: 4))
        }
        #expect(writer.bytes == before)
        try writer.append(serviceUUIDs: [BluetoothUUID(1 as UInt16)], areComplete: false)
        #expect(writer.remainingCount == 0)
        writer.removeAll()
        #expect(writer.remainingCount == 10)
    }

    @Test("a structure longer than its length octet can say is refused, however much room there is")
    func lengthOctet() throws {
        var writer = AdvertisingDataWriter(capacity: AdvertisingDataWriter.extendedCapacity)
        try writer.append(.uri, [UInt8](repeating: 7, count: 254))
        #expect(writer.bytes.count == 256)
        do throws(AdvertisingDataWriter.DoesNotFit) {
            try writer.append(.uri, [UInt8](repeating: 7, count: 255))
            Issue.record("written")
        } catch {
            #expect(error.needed == 257)
        }
        let uuids = (0..<128).map { BluetoothUUID(UInt16($0)) }
        do throws(AdvertisingDataWriter.DoesNotFit) {
            try writer.append(serviceUUIDs: uuids, areComplete: true)
            Issue.record("written")
        } catch {
            #expect(error.needed == 258)
        }
    }

    @Test("UUIDs are in one list for each width, 16 before 32 before 128")
    func widths() throws {
        var writer = AdvertisingDataWriter(capacity: 251)
        let long = BluetoothUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
        let uuids = [long, BluetoothUUID(0x1234_5678 as UInt32), BluetoothUUID(0x180D as UInt16)]
        try writer.append(serviceUUIDs: uuids, areComplete: true)
        try writer.append(solicitedServiceUUIDs: uuids)
        let octets128 = "FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11 00"
        #expect(
            writer.bytes
                == octets(
                    "03 03 0D 18 05 05 78 56 34 12 11 07 " + octets128 + "03 14 0D 18 05 1F 78 56 34 12 11 15 "
                        + octets128))
    }

    @Test("whatever is written is read back")
    func inverse() throws {
        var random = FixedSeedGenerator(seed: 9)
        for _ in 0..<500 {
            var writer = AdvertisingDataWriter(capacity: AdvertisingDataWriter.extendedCapacity)
            var expected = AdvertisingData()
            expected.flags = UInt8(truncatingIfNeeded: random.next())
            try writer.append(AdvertisingFlags(rawValue: expected.flags ?? 0))
            for _ in 0..<random.next() % 5 {
                let uuid = uuid(&random)
                if expected.serviceUUIDs.contains(uuid) { continue }
                expected.serviceUUIDs.append(uuid)
                try writer.append(serviceUUIDs: [uuid], areComplete: false)
            }
            expected.localName = String(repeating: "ä", count: Int(random.next() % 20) + 1)
            expected.isNameComplete = random.next() % 2 == 0
            try writer.append(localName: expected.localName ?? "", isComplete: expected.isNameComplete)
            expected.txPower = Int8(truncatingIfNeeded: random.next())
            try writer.append(txPowerLevel: expected.txPower ?? 0)
            expected.appearance = UInt16(truncatingIfNeeded: random.next())
            try writer.append(appearance: expected.appearance ?? 0)
            for _ in 0..<random.next() % 4 {
                let company = UInt16(truncatingIfNeeded: random.next())
                let data = random.octets(count: Int(random.next() % 30))
                expected.manufacturerData.append(.init(company: company, data: data))
                try writer.append(manufacturerData: data, company: company)
                let uuid = uuid(&random)
                expected.serviceData.append(.init(uuid: uuid, data: data))
                try writer.append(serviceData: data, uuid: uuid)
            }
            try writer.append(ConnectionIntervalRange(minimum: 6, maximum: 3200))
            #expect(AdvertisingData(advertisement: writer.bytes.span.bytes) == expected)
        }
    }

    private func uuid(_ random: inout FixedSeedGenerator) -> BluetoothUUID {
        switch random.next() % 3 {
        case 0: BluetoothUUID(UInt16(truncatingIfNeeded: random.next()))
        case 1: BluetoothUUID(UInt32(truncatingIfNeeded: random.next()))
        default: BluetoothUUID(high: random.next(), low: random.next())
        }
    }
}
