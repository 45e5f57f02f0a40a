import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client: writes")
struct GATTWriteTests {
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

    @Test("a longer value is prepared in parts and executed (SPEC 2.3)")
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

    @Test(
        "a value that must be written by prepared writes is prepared even when short or empty", arguments: ["0102", ""])
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

    @Test("a long write ignores differences in the server's echo")
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

    @Test("a reliable write prepares several values and executes them together")
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

    @Test("a refused part clears the queue before the operation ends, whatever the answer")
    func refusedPart() {
        for answer in ["19", "01 18 0000 0e"] {
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

    @Test("a refused execution fails the write, and the queue needs no clearing")
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

    @Test("values over 512 octets are refused, and no request is sent (SPEC 2.3)")
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
