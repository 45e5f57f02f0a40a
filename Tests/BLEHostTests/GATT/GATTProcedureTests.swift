import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client procedures")
struct GATTProcedureTests {
    private func uuid(_ short: UInt16) -> BluetoothUUID { BluetoothUUID(short) }

    @Test("all primary services are found, group after group (SPEC CEN-11)")
    func services() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 0100 0400 0118 0500 0800 0d18
            > 10 0900 ffff 0028
            < 11 14 2000 2f00 0f0e0d0c0b0a09080706050403020100
            > 10 3000 ffff 0028
            < 01 10 3000 0a
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x1801), range: .init(1, 4), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
            DiscoveredService(
                uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
                range: .init(0x20, 0x2F), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a group that ends with the last handle ends the search")
    func lastHandle() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 ffff ffff 0a18
            """)
        #expect(bench.takeResults().count == 1)
    }

    @Test("named services are sought by value, each once, in long form only where they have no short one")
    func namedServices() {
        var bench = ClientBench()
        let long = BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
        bench.start(.discoverServices(uuids: [uuid(0x180D).expanded, long, uuid(0x180D)]))
        bench.play(
            """
            > 06 0100 ffff 0028 0d18
            < 07 0500 0800 1000 1f00
            > 06 2000 ffff 0028 0d18
            < 01 06 2000 0a
            > 06 0100 ffff 0028 0f0e0d0c0b0a09080706050403020100
            < 07 3000 ffff
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(0x10, 0x1F), isPrimary: true),
            DiscoveredService(uuid: long, range: .init(0x30, 0xFFFF), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a server that knows no groups of secondary services has none")
    func secondaryServices() {
        var bench = ClientBench()
        bench.start(.discoverSecondaryServices)
        bench.play(
            """
            > 10 0100 ffff 0128
            < 01 10 0100 10
            """)
        #expect(bench.takeResults() == [.success(.services([]))])
    }

    @Test("a long UUID of an included service is read from its declaration")
    func includes() {
        var bench = ClientBench()
        bench.start(.discoverIncludedServices(.init(1, 4)))
        bench.play(
            """
            > 08 0100 0400 0228
            < 09 06 0200 2000 2f00 0300 3000 3f00
            > 0a 2000
            < 0b 0f0e0d0c0b0a09080706050403020100
            > 0a 3000
            < 0b 0f18
            > 08 0400 0400 0228
            < 09 08 0400 4000 4f00 0a18
            """)
        let includes = [
            DiscoveredInclude(
                handle: 2, uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
                range: .init(0x20, 0x2F)),
            DiscoveredInclude(handle: 3, uuid: uuid(0x180F), range: .init(0x30, 0x3F)),
            DiscoveredInclude(handle: 4, uuid: uuid(0x180A), range: .init(0x40, 0x4F)),
        ]
        #expect(bench.takeResults() == [.success(.includedServices(includes))])
    }

    @Test(
        "characteristics tell where they end, also when only some are wanted (SPEC CEN-12)", arguments: [true, false])
    func characteristics(all: Bool) {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(.init(5, 0x10), uuids: all ? [] : [uuid(0x2A38)]))
        bench.play(
            """
            > 08 0500 1000 0328
            < 09 07 0600 10 0700 372a 0900 02 0a00 382a
            > 08 0a00 1000 0328
            < 01 08 0a00 0a
            """)
        let found = [
            DiscoveredCharacteristic(
                handle: 6, valueHandle: 7, endHandle: 8, properties: .notify, uuid: uuid(0x2A37)),
            DiscoveredCharacteristic(
                handle: 9, valueHandle: 10, endHandle: 16, properties: .read, uuid: uuid(0x2A38)),
        ]
        #expect(bench.takeResults() == [.success(.characteristics(all ? found : [found[1]]))])
    }

    @Test("descriptors are found in both widths until the range is told to its end")
    func descriptors() {
        var bench = ClientBench()
        bench.start(.discoverDescriptors(.init(8, 10)))
        bench.play(
            """
            > 04 0800 0a00
            < 05 01 0800 0229
            > 04 0900 0a00
            < 05 02 0a00 0f0e0d0c0b0a09080706050403020100
            """)
        let found = [
            DiscoveredDescriptor(handle: 8, uuid: .clientCharacteristicConfiguration),
            DiscoveredDescriptor(
                handle: 10, uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)),
        ]
        #expect(bench.takeResults() == [.success(.descriptors(found))])
    }

    @Test("a characteristic without room for descriptors has none, and nobody is asked")
    func noDescriptors() {
        var bench = ClientBench()
        bench.start(.discoverDescriptors(.init(9, 8)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == [.success(.descriptors([]))])
    }

    @Test("a search in a range without a handle is refused, and nobody is asked")
    func invalidRange() {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(.init(9, 8), uuids: []))
        bench.start(.discoverIncludedServices(.init(0, 8)))
        bench.start(.readUsingUUID(uuid(0x2A00), .init(9, 8)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == Array(repeating: .failure(.invalidParameters), count: 3))
    }

    // MARK: Reading

    @Test("a value shorter than the PDU is read with one request (SPEC 2.3)")
    func shortRead() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play(
            """
            > 0a 0300
            < 0b 010203
            """)
        #expect(bench.takeResults() == [.success(.value([1, 2, 3]))])
    }

    @Test("a value that fills the PDU is read on until a shorter part comes (SPEC 2.3)")
    func longRead() {
        var bench = ClientBench()
        bench.start(.read(3))
        let full = String(repeating: "aa", count: 22)
        bench.play(
            """
            > 0a 0300
            < 0b \(full)
            > 0c 0300 1600
            < 0d \(full)
            > 0c 0300 2c00
            < 0d bb
            """)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xAA, count: 44) + [0xBB]))])
    }

    @Test("Invalid Offset and Attribute Not Long end a long read well (SPEC 2.3)", arguments: ["07", "0b"])
    func readEnds(code: String) {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play(
            """
            > 0a 0300
            < 0b \(String(repeating: "aa", count: 22))
            > 0c 0300 1600
            < 01 0c 0300 \(code)
            """)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xAA, count: 22)))])
    }

    @Test("another error in the middle of a long read is its failure")
    func readFails() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play(
            """
            > 0a 0300
            < 0b \(String(repeating: "aa", count: 22))
            > 0c 0300 1600
            < 01 0c 0300 05
            """)
        #expect(bench.takeResults() == [.failure(.att(.insufficientAuthentication, handle: 3))])
    }

    @Test("a value of 512 octets is complete: no request beyond it")
    func longestRead() {
        var bench = ClientBench(mtu: 129)
        bench.start(.read(3))
        let full = String(repeating: "cc", count: 128)
        bench.play(
            """
            > 0a 0300
            < 0b \(full)
            > 0c 0300 8000
            < 0d \(full)
            > 0c 0300 0001
            < 0d \(full)
            > 0c 0300 8001
            < 0d \(full)
            """)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xCC, count: 512)))])
    }

    @Test("a long read from an offset begins with Read Blob")
    func readFromOffset() {
        var bench = ClientBench()
        bench.start(.readLong(3, offset: 5))
        bench.play(
            """
            > 0c 0300 0500
            < 0d 0102
            """)
        bench.start(.readLong(3, offset: 5))
        bench.play(
            """
            > 0c 0300 0500
            < 01 0c 0300 07
            """)
        #expect(bench.takeResults() == [.success(.value([1, 2])), .failure(.att(.invalidOffset, handle: 3))])
    }

    @Test("a peer that raises the MTU during a read does not cut the value (pain 9)")
    func readAcrossMTUChange() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play(
            """
            > 0a 0300
            < 02 0002
            > 03 0502
            < 0b \(String(repeating: "aa", count: 22))
            > 0c 0300 1600
            < 0d bb
            """)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xAA, count: 22) + [0xBB]))])
    }

    @Test("values are read by type until there are no more; none at all is an error")
    func readUsingUUID() {
        var bench = ClientBench()
        bench.start(.readUsingUUID(uuid(0x2A00), .all))
        bench.play(
            """
            > 08 0100 ffff 002a
            < 09 04 0300 aabb
            > 08 0400 ffff 002a
            < 01 08 0400 0a
            """)
        bench.start(.readUsingUUID(uuid(0x2A00), .all))
        bench.play(
            """
            > 08 0100 ffff 002a
            < 01 08 0100 0a
            """)
        let value = AttributeValue(handle: 3, value: [0xAA, 0xBB])
        #expect(
            bench.takeResults() == [
                .success(.attributeValues([value])), .failure(.att(.attributeNotFound, handle: 1)),
            ])
    }

    @Test("several values are read at once, with and without their lengths")
    func readMultiple() {
        var bench = ClientBench()
        bench.start(.readMultiple([3, 7]))
        bench.play(
            """
            > 0e 0300 0700
            < 0f 010203
            """)
        bench.start(.readMultipleVariable([3, 7]))
        bench.play(
            """
            > 20 0300 0700
            < 21 0100 aa 0500 bbcc
            """)
        #expect(bench.takeResults() == [.success(.value([1, 2, 3])), .success(.values([[0xAA], [0xBB, 0xCC]]))])
    }

    @Test("a list that is too short or too long for Read Multiple is refused, and nobody is asked")
    func readMultipleBounds() {
        var bench = ClientBench()
        bench.start(.readMultiple([3]))
        bench.start(.readMultipleVariable(Array(repeating: 3, count: 12)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == Array(repeating: .failure(.invalidParameters), count: 2))
    }

    // MARK: Writing

    @Test("a value of MTU − 3 octets is written with one request (SPEC 2.3)")
    func shortWrite() {
        var bench = ClientBench()
        bench.start(.write(7, value: [UInt8](repeating: 0x55, count: 20)))
        bench.play(
            """
            > 12 0700 \(String(repeating: "55", count: 20))
            < 13
            """)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a longer value is prepared in parts and carried out (SPEC 2.3)")
    func longWrite() {
        var bench = ClientBench()
        bench.start(.write(7, value: [UInt8](repeating: 0x55, count: 21)))
        let part = String(repeating: "55", count: 18)
        bench.play(
            """
            > 16 0700 0000 \(part)
            < 17 0700 0000 \(part)
            > 16 0700 1200 555555
            < 17 0700 1200 555555
            > 18 01
            < 19
            """)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a value that only prepared writes may carry is prepared even when short or empty", arguments: ["0102", ""])
    func alwaysPrepared(value: String) {
        var bench = ClientBench()
        bench.start(.writeLong(7, value: bytes(value)))
        bench.play(
            """
            > 16 0700 0000 \(value)
            < 17 0700 0000 \(value)
            > 18 01
            < 19
            """)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a long write does not mind what the server repeats")
    func longWriteEcho() {
        var bench = ClientBench()
        bench.start(.writeLong(7, value: [1, 2]))
        bench.play(
            """
            > 16 0700 0000 0102
            < 17 0700 0000
            > 18 01
            < 19
            """)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a reliable write goes through several values and carries them out together")
    func reliableWrite() {
        var bench = ClientBench()
        bench.start(.reliableWrite([.init(handle: 7, value: [1, 2]), .init(handle: 9, value: [3])]))
        bench.play(
            """
            > 16 0700 0000 0102
            < 17 0700 0000 0102
            > 16 0900 0000 03
            < 17 0900 0000 03
            > 18 01
            < 19
            """)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test(
        "a reliable write whose echo differs clears the queue and writes nothing",
        arguments: ["17 0700 0000 0103", "17 0800 0000 0102", "17 0700 0100 0102", "17 0700 0000 01"])
    func reliableWriteMismatch(echo: String) {
        var bench = ClientBench()
        bench.start(.reliableWrite([.init(handle: 7, value: [1, 2])]))
        bench.play(
            """
            > 16 0700 0000 0102
            < \(echo)
            > 18 00
            < 19
            """)
        #expect(bench.takeResults() == [.failure(.reliableWriteMismatch(7))])
    }

    @Test("a refused part clears the queue before the operation ends, whatever the answer to that")
    func refusedPart() {
        for answer in ["19", "01 18 0000 0e", "13"] {
            var bench = ClientBench()
            bench.start(.writeLong(7, value: [1, 2]))
            bench.play(
                """
                > 16 0700 0000 0102
                < 01 16 0700 09
                > 18 00
                < \(answer)
                """)
            #expect(bench.takeResults() == [.failure(.att(.prepareQueueFull, handle: 7))])
        }
    }

    @Test("an execution that is refused is the failure of the write, and the queue needs no clearing")
    func refusedExecution() {
        var bench = ClientBench()
        bench.start(.writeLong(7, value: [1, 2]))
        bench.play(
            """
            > 16 0700 0000 0102
            < 17 0700 0000 0102
            > 18 01
            < 01 18 0700 0d
            """)
        #expect(bench.takeResults() == [.failure(.att(.invalidAttributeValueLength, handle: 7))])
    }

    @Test("values over 512 octets are refused, and nobody is asked (SPEC 2.3)")
    func tooLong() {
        var bench = ClientBench(mtu: 600)
        let value = [UInt8](repeating: 0, count: 513)
        bench.start(.write(7, value: value))
        bench.start(.writeLong(7, value: value))
        bench.start(.reliableWrite([.init(handle: 7, value: value)]))
        bench.start(.reliableWrite([]))
        bench.start(.writeCommand(7, value: value))
        #expect(bench.sent.isEmpty)
        let results = bench.takeResults()
        #expect(results.count == 5)
        for (index, result) in results.enumerated() {
            #expect(result == .failure(index == 3 ? .invalidParameters : .valueTooLong(limit: 512)))
        }
    }

    @Test("operations go out one after another, in the order in which they were started")
    func order() {
        var bench = ClientBench()
        let ids = (1...3).map { bench.start(.read(AttributeHandle(rawValue: $0))) }
        bench.play(
            """
            > 0a 0100
            < 0b 01
            > 0a 0200
            < 01 0a 0200 02
            > 0a 0300
            < 0b 03
            """)
        #expect(bench.completions.map(\.id) == ids)
    }
}
