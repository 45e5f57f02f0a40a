import Testing

@testable import bletool

@Suite("The benchmark")
struct BenchTests {
    @Test("packets have the form of Bumble's benchmark")
    func packets() {
        #expect(BenchPacket.reset.octets == [0])
        let packet = BenchPacket.sequence(flags: .last, number: 0x0102_0304, time: 5, byteCount: 12)
        #expect(packet.octets == [1, 1, 4, 3, 2, 1, 5, 0, 0, 0, 0, 0])
        #expect(BenchPacket.read(packet.octets) == packet)
        let answer = BenchPacket.acknowledgement(flags: [], number: 7)
        #expect(answer.octets == [2, 0, 7, 0, 0, 0])
        #expect(BenchPacket.read(answer.octets) == answer)
        #expect(BenchPacket.read([0]) == .reset)
    }

    @Test("octets of another form are no packets")
    func strangers() {
        for octets in [[], [3], [1], [1, 0, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0], [255, 255]] as [[UInt8]] {
            #expect(BenchPacket.read(octets) == nil)
        }
    }

    @Test("a stream is cut into packets wherever its messages end")
    func framing() {
        let stream = BenchFraming.frame([1, 2, 3]) + BenchFraming.frame([]) + BenchFraming.frame([4])
        for size in 1...stream.count {
            var framing = BenchFraming()
            var packets: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                packets += framing.receive(Array(stream[start..<min(start + size, stream.count)]))
            }
            #expect(packets == [[1, 2, 3], [], [4]])
        }
    }

    @Test("round trips in order")
    func statistics() throws {
        var result = BenchResult(scenario: .ping, bearer: "gatt", bearerText: "GATT")
        #expect(result.statistics == nil)
        result.roundTrips = (1...100).reversed().map { Double($0) / 1000 }
        let statistics = try #require(result.statistics)
        #expect(statistics.min == 0.001)
        #expect(statistics.median == 0.051)
        #expect(statistics.percentile99 == 0.1)
        #expect(statistics.max == 0.1)
    }

    @Test(
        "impossible runs are wrong usage",
        arguments: [
            ["bench"], ["bench", "Bench", "--serve"], ["bench", "Bench", "--once"], ["bench", "Bench", "--size", "9"],
            ["bench", "Bench", "--count", "0"], ["bench", "Bench", "--spsm", "256"],
            ["bench", "Bench", "--scenario", "x"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await ToolRun(list: ["-t", "sim"] + arguments).status == 2)
    }
}
