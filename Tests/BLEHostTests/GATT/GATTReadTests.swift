import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client: reads")
struct GATTReadTests {
    private func uuid(_ short: UInt16) -> BluetoothUUID { BluetoothUUID(short) }

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

    @Test("a read that fills the PDU continues until a shorter part arrives (SPEC 2.3)")
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

    @Test(
        "Invalid Offset, Attribute Not Long and an unknown Read Blob end a long read with success (SPEC 2.3; Core 5.4, Vol 3, Part G, 4.8.3)",
        arguments: ["07", "0b", "06"])
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

    @Test("any other error during a long read fails it")
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

    @Test(
        "an error after the first values ends a read by type with them, unless security cures it (Core 5.4, Vol 3, Part G, 4.8.2)",
        arguments: ["02", "0e", "05"])
    func readUsingUUIDEnds(code: String) {
        var settings = GATTClientSettings()
        settings.asksForSecurity = false
        var bench = ClientBench(settings: settings)
        bench.start(.readUsingUUID(uuid(0x2A00), .all))
        bench.play(
            """
            > 08 0100 ffff 002a
            < 09 04 0300 aabb
            > 08 0400 ffff 002a
            < 01 08 0400 \(code)
            """)
        let value = AttributeValue(handle: 3, value: [0xAA, 0xBB])
        let refused = GATTFailure.att(.insufficientAuthentication, handle: 4)
        #expect(bench.takeResults() == [code == "05" ? .failure(refused) : .success(.attributeValues([value]))])
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

    @Test("a list that is too short or too long for Read Multiple is refused, and no request is sent")
    func readMultipleBounds() {
        var bench = ClientBench()
        bench.start(.readMultiple([3]))
        bench.start(.readMultipleVariable(Array(repeating: 3, count: 12)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == Array(repeating: .failure(.invalidParameters), count: 2))
    }
}
