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

    // MARK: Users

    /// A user whose clients ask for as much as they can, and another user's client.
    private let crowd: UInt32 = 1000
    private let other: UInt32 = 1001
    private let member = ClientID(rawValue: 200)

    @Test("31 clients of one user delay another user's read by one operation")
    func crowdOfOneUser() {
        var bench = ClientBench()
        for number in 1...4 {
            for client in 1...31 {
                let client = ClientID(rawValue: UInt32(client))
                bench.start(read(client, number), client: client, user: crowd)
            }
        }
        // One of the crowd's is under way.
        for number in 1...3 { bench.start(read(member, number), client: member, user: other) }
        let order = answerAll(&bench)
        #expect(order.count == 4 * 31 + 3)
        #expect([1, 3, 5].map { order[$0] } == [[200, 1], [200, 2], [200, 3]])
        // The clients of the crowd take turns among themselves.
        let own = order.filter { $0[0] != 200 }
        #expect(own == (1...4).flatMap { number in (1...31).map { [$0, number] } })
    }

    @Test("a user that asks once at a time has every second turn, however many clients another one has")
    func oneAtATimeOfUsers() {
        var bench = ClientBench()
        for number in 1...3 {
            for client in 1...31 {
                let client = ClientID(rawValue: UInt32(client))
                bench.start(read(client, number), client: client, user: crowd)
            }
        }
        bench.start(read(member, 1), client: member, user: other)
        var order: [UInt8] = []
        for number in 2...40 {
            let client = bytes(bench.takeSent().first ?? "")[2]
            order.append(client)
            bench.receive("0b")
            if client == 200 { bench.start(read(member, number), client: member, user: other) }
        }
        #expect(order.indices.allSatisfy { (order[$0] == 200) == ($0 % 2 == 1) }, "\(order)")
    }

    @Test("a client of a user that has waiting ones has its turn among these, and each keeps its order")
    func turnsWithinUser() {
        var bench = ClientBench()
        for number in 1...3 { bench.start(read(greedy, number), client: greedy, user: crowd) }
        for number in 1...3 { bench.start(read(member, number), client: member, user: other) }
        for number in 1...2 { bench.start(read(modest, number), client: modest, user: crowd) }
        bench.start(read(third, 1), client: third)
        #expect(
            answerAll(&bench) == [
                [1, 1], [200, 1], [3, 1], [2, 1], [200, 2], [1, 2], [200, 3], [2, 2], [1, 3],
            ])
    }

    @Test("a user that fills the queue leaves places to another one, and one to each of its own clients")
    func placesOfUsers() {
        var settings = GATTClientSettings()
        settings.operationLimit = 32
        var bench = ClientBench(settings: settings)
        for number in 0..<33 {
            let client = ClientID(rawValue: UInt32(1 + number % 11))
            bench.start(read(client, 1 + number / 11), client: client, user: crowd)
        }
        #expect(bench.takeResults().isEmpty)
        let late = ClientID(rawValue: 99)
        bench.start(read(late, 1), client: late, user: crowd)
        #expect(bench.takeResults().isEmpty)
        for client in [modest, late] { bench.start(read(client, 4), client: client, user: crowd) }
        #expect(bench.takeResults() == [.failure(.queueFull), .failure(.queueFull)])
        for number in 1...2 { bench.start(read(member, number), client: member, user: other) }
        #expect(bench.takeResults().isEmpty)
        bench.start(read(member, 3), client: member, user: other)
        #expect(bench.takeResults() == [.failure(.queueFull)])
    }

    @Test("operations that overtake others of their user on free bearers take no turns of another user")
    func overtaking() {
        var bench = ClientBench()
        bench.open(1)
        bench.open(2)
        // Writes of one value, which wait for each other, and reads behind them.
        for _ in 0..<20 { bench.start(.write(0x0101, value: [1]), client: greedy, user: crowd) }
        for number in 2...20 { bench.start(read(modest, number), client: modest, user: crowd) }
        var mine: [Int] = []
        bench.start(read(member, 1), client: member, user: other)
        for count in 0..<6 {
            // Whatever is under way on any bearer is answered.
            for (bearer, sent) in [(0, bench.takeSent()), (1, bench.takeSent(on: 1)), (2, bench.takeSent(on: 2))] {
                for request in sent.map(bytes) {
                    if request[0] == 0x0A, request[2] == 200 {
                        mine.append(count)
                        bench.start(read(member, mine.count + 1), client: member, user: other)
                    }
                    let answer = request[0] == 0x0A ? "0b" : "13"
                    if bearer == 0 { bench.receive(answer) } else { bench.receive(answer, on: UInt32(bearer)) }
                }
            }
        }
        #expect(mine.count >= 4 && mine.first == 1, "\(mine)")
    }

    @Test("what a client that leaves had subscribed to is configured in turns with what others ask for")
    func configurations() {
        var bench = ClientBench()
        for number in 1...8 {
            let value = AttributeHandle(rawValue: UInt16(16 * number))
            bench.start(
                .subscribe(
                    value, configuration: AttributeHandle(rawValue: UInt16(16 * number + 1)), mode: .notifications),
                client: greedy, user: crowd)
            _ = bench.takeSent()
            bench.receive("13")
        }
        _ = bench.takeResults()
        bench.start(read(modest, 1), client: modest, user: crowd)
        bench.leave(greedy)
        for number in 1...3 { bench.start(read(member, number), client: member, user: other) }
        var sent: [UInt8] = []
        while let request = bench.takeSent().first.map(bytes) {
            sent.append(request[0] == 0x0A ? request[2] : 0)
            bench.receive(request[0] == 0x0A ? "0b" : "13")
        }
        #expect(sent.count == 12)
        #expect((sent.lastIndex(of: 200) ?? .max) <= 6, "\(sent)")
    }

    @Test("a user with a write command in the queue gets no more places for each of its clients")
    func writeCommandsOfUsers() {
        var settings = GATTClientSettings()
        settings.writeCommandLimit = 2
        var bench = ClientBench(settings: settings)
        for client in [greedy, modest, third] {
            bench.start(.writeCommand(7, value: [1]), client: client, user: crowd)
        }
        #expect(bench.takeResults() == [.failure(.queueFull)])
        // Also where the client has gone whose command it is.
        bench.leave(greedy)
        _ = bench.takeResults()
        bench.start(.writeCommand(7, value: [1]), client: third, user: crowd)
        #expect(bench.takeResults() == [.failure(.queueFull)])
        bench.start(.writeCommand(7, value: [2]), client: member, user: other)
        #expect(bench.takeResults().isEmpty)
        #expect(bench.takeSent() == ["52070001", "52070001", "52070002"])
    }

    @Test("users and clients that come and go leave nothing behind, and every operation ends once", arguments: 1...20)
    func manyUsers(seed: Int) {
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func draw(_ limit: Int) -> Int {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(truncatingIfNeeded: random >> 33) % limit
        }
        var bench = ClientBench()
        var started = 0
        var numbers: [Int: Int] = [:]
        var last: [Int: Int] = [:]
        for _ in 0..<500 {
            let client = 1 + draw(12)
            switch draw(4) {
            case 0, 1:
                numbers[client, default: 0] += 1
                let id = ClientID(rawValue: UInt32(client))
                let number = 1 + numbers[client, default: 0] % 200
                bench.start(read(id, number), client: id, user: UInt32(1000 + client % 4))
                started += 1
            case 2:
                guard let request = bench.takeSent().first.map(bytes) else { continue }
                let (sender, number) = (Int(request[2]), Int(request[1]))
                if let before = last[sender], before < 190 { #expect(number > before) }
                last[sender] = number
                bench.receive("0b")
            default: if draw(10) == 0 { bench.leave(ClientID(rawValue: UInt32(client))) }
            }
        }
        while !bench.takeSent().isEmpty { bench.receive("0b") }
        #expect(bench.completions.count == started)
        #expect(bench.client.waiting.isEmpty)
    }
}
