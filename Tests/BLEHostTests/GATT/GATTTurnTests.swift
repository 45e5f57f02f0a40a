import BLEPackets
import Testing

@testable import BLEHost

/// Several clients of one link, which ask for more than it can carry at once.
@Suite("GATT client, turns of several clients")
struct GATTTurnTests {
    private let greedy = ClientID(rawValue: 1)
    private let modest = ClientID(rawValue: 2)
    private let third = ClientID(rawValue: 3)

    /// A read whose request shows whose it is, and which of its client's.
    private func read(_ client: ClientID, _ number: Int) -> GATTOperation {
        .read(AttributeHandle(rawValue: UInt16(client.rawValue) << 8 | UInt16(number)))
    }

    /// Answers the request that was sent, until none is left.
    /// - Returns: the clients and numbers of the reads, in the order in which they were sent.
    private func answerAll(_ bench: inout ClientBench) -> [[Int]] {
        var order: [[Int]] = []
        while let request = bench.takeSent().first {
            let octets = bytes(request)
            #expect(octets.count == 3 && octets.first == 0x0A)
            guard octets.count == 3 else { break }
            order.append([Int(octets[2]), Int(octets[1])])
            bench.receive("0b")
        }
        return order
    }

    @Test("clients take turns, and each keeps its order")
    func turns() {
        var bench = ClientBench()
        for number in 1...4 { bench.start(read(greedy, number), client: greedy) }
        for number in 1...2 { bench.start(read(modest, number), client: modest) }
        bench.start(read(third, 1), client: third)
        #expect(answerAll(&bench) == [[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [1, 3], [1, 4]])
    }

    @Test("a client that asks once at a time gets no second turn before the others had theirs")
    func oneAtATime() {
        var bench = ClientBench()
        for number in 1...10 { bench.start(read(greedy, number), client: greedy) }
        bench.start(read(modest, 1), client: modest)
        bench.start(read(third, 1), client: third)
        var order: [UInt8] = []
        var next = 2
        for _ in 0..<12 {
            let client = bytes(bench.takeSent().first ?? "")[2]
            order.append(client)
            bench.receive("0b")
            // Each of the two asks again at once.
            if client != 1 {
                let asking = ClientID(rawValue: UInt32(client))
                bench.start(read(asking, next), client: asking)
                next += 1
            }
        }
        #expect(order == [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3])
    }

    @Test("clients that fill the queue leave places to one that has none")
    func places() {
        var settings = GATTClientSettings()
        settings.operationLimit = 32
        var bench = ClientBench(settings: settings)
        for number in 0..<33 { bench.start(read(greedy, number), client: greedy) }
        #expect(bench.takeResults().isEmpty)
        bench.start(read(greedy, 33), client: greedy)
        #expect(bench.takeResults() == [.failure(.queueFull)])
        for client in [modest, third] {
            for number in 1...2 { bench.start(read(client, number), client: client) }
            #expect(bench.takeResults().isEmpty)
            bench.start(read(client, 3), client: client)
            #expect(bench.takeResults() == [.failure(.queueFull)])
        }
        #expect(
            Array(answerAll(&bench).prefix(7)) == [[1, 0], [2, 1], [3, 1], [1, 1], [2, 2], [3, 2], [1, 2]])
    }

    @Test("a write of several requests is not interrupted by another client's turn")
    func wholeProcedures() {
        var bench = ClientBench()
        bench.start(.write(0x0107, value: [UInt8](repeating: 1, count: 30)), client: greedy)
        bench.start(read(greedy, 1), client: greedy)
        bench.start(read(modest, 1), client: modest)
        let (first, second) = (String(repeating: "01", count: 18), String(repeating: "01", count: 12))
        bench.play(
            """
            > 16 0701 0000 \(first)
            < 17 0701 0000 \(first)
            > 16 0701 1200 \(second)
            < 17 0701 1200 \(second)
            > 18 01
            < 19
            > 0a 0102
            < 0b
            > 0a 0101
            < 0b
            """)
        #expect(bench.takeResults().count == 3)
    }

    @Test("a client that leaves takes only its own operations with it")
    func leaving() {
        var bench = ClientBench()
        for number in 1...3 {
            for client in [greedy, modest, third] { bench.start(read(client, number), client: client) }
        }
        bench.leave(modest)
        #expect(bench.takeResults() == Array(repeating: .failure(.cancelled), count: 3))
        #expect(answerAll(&bench) == [[1, 1], [3, 1], [1, 2], [3, 2], [1, 3], [3, 3]])
    }

    @Test("a client without a waiting write command may send one, however many the others have")
    func writeCommands() {
        var settings = GATTClientSettings()
        settings.writeCommandLimit = 2
        var bench = ClientBench(settings: settings)
        for _ in 0..<2 { bench.start(.writeCommand(7, value: [1]), client: greedy) }
        bench.start(.writeCommand(7, value: [2]), client: greedy)
        #expect(bench.takeResults() == [.failure(.queueFull)])
        bench.start(.writeCommand(7, value: [3]), client: modest)
        #expect(bench.takeResults().isEmpty)
        bench.start(.writeCommand(7, value: [4]), client: modest)
        #expect(bench.takeResults() == [.failure(.queueFull)])
        #expect(bench.takeSent() == ["52070001", "52070001", "52070003"])
    }
}
