import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client: every operation ends once")
struct GATTClientLifeTests {
    /// Each operation and the answers that carry it to its end.
    static let operations: [(name: String, operation: GATTOperation, answers: [String])] = [
        ("MTU", .exchangeMTU(preferred: 100), ["03 6400"]),
        (
            "services", .discoverServices(uuids: []),
            ["11 06 0100 0400 0118", "11 06 0500 0800 0d18", "01 10 0900 0a"]
        ),
        (
            "named services", .discoverServices(uuids: [BluetoothUUID(UInt16(0x180D)), BluetoothUUID(UInt16(0x180F))]),
            ["07 0500 0800", "01 06 0900 0a", "07 0900 ffff"]
        ),
        ("secondary services", .discoverSecondaryServices, ["11 06 0100 0400 0118", "01 10 0500 0a"]),
        (
            "includes", .discoverIncludedServices(.init(1, 4)),
            ["09 06 0200 2000 2f00 0300 3000 3f00", "0b 0f18", "0b 0f18", "01 08 0400 0a"]
        ),
        (
            "characteristics", .discoverCharacteristics(.init(5, 16), uuids: []),
            ["09 07 0600 10 0700 372a", "09 07 0900 02 0a00 382a", "01 08 0a00 0a"]
        ),
        ("descriptors", .discoverDescriptors(.init(8, 10)), ["05 01 0800 0229", "05 01 0a00 0129"]),
        (
            "read", .read(3),
            ["0b" + String(repeating: "aa", count: 22), "0d" + String(repeating: "aa", count: 22), "0d"]
        ),
        ("long read", .readLong(3, offset: 4), ["0d" + String(repeating: "aa", count: 22), "01 0c 0300 07"]),
        (
            "read by type", .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all),
            ["09 03 0300 01", "09 03 0400 01", "01 08 0500 0a"]
        ),
        ("read multiple", .readMultiple([1, 2]), ["0f 0102"]),
        ("read multiple variable", .readMultipleVariable([1, 2]), ["21 0000 0000"]),
        ("write", .write(3, value: [1]), ["13"]),
        (
            "long write", .writeLong(3, value: [UInt8](repeating: 1, count: 20)),
            ["17 0300 0000", "17 0300 1200", "19"]
        ),
        (
            "reliable write", .reliableWrite([.init(handle: 3, value: [1]), .init(handle: 4, value: [2])]),
            ["17 0300 0000 01", "17 0400 0000 02", "19"]
        ),
        ("refused long write", .writeLong(3, value: [1]), ["01 16 0300 02", "19"]),
        ("subscription", .subscribe(3, configuration: 4, mode: .notifications), ["13"]),
    ]

    @Test("each operation ends with its last answer and not before", arguments: operations.indices)
    func ends(index: Int) {
        let (name, operation, answers) = Self.operations[index]
        var bench = ClientBench()
        bench.start(operation)
        for (step, answer) in answers.enumerated() {
            #expect(bench.sent.count == step + 1, "\(name)")
            #expect(bench.completions.isEmpty, "\(name)")
            bench.receive(answer)
        }
        #expect(bench.sent.count == answers.count, "\(name)")
        #expect(bench.completions.count == 1, "\(name)")
    }

    @Test("a disconnection at any step of any procedure ends it once (pain 4)", arguments: operations.indices)
    func disconnects(index: Int) {
        let (name, operation, answers) = Self.operations[index]
        for step in 0...answers.count {
            var bench = ClientBench()
            bench.start(operation)
            bench.start(.read(9))
            for answer in answers.prefix(step) { bench.receive(answer) }
            let before = bench.completions.count
            bench.close(.disconnected(.connectionTimeout))
            #expect(bench.completions.count == 2, "\(name), \(step)")
            for completion in bench.completions.dropFirst(before) {
                #expect(completion.result == .failure(.disconnected(.connectionTimeout)), "\(name), \(step)")
            }
            _ = bench.takeSent()
            // Late packets and a second end change nothing.
            for answer in answers { bench.receive(answer) }
            bench.close()
            bench.pass(.seconds(60))
            #expect(bench.completions.count == 2, "\(name), \(step)")
            #expect(bench.sent.isEmpty && bench.disconnects == 0, "\(name), \(step)")
        }
    }

    @Test("a cancellation at any step ends the operation once, and the next one works", arguments: operations.indices)
    func cancels(index: Int) {
        let (name, operation, answers) = Self.operations[index]
        for step in 0..<answers.count {
            var bench = ClientBench()
            let id = bench.start(operation)
            for answer in answers.prefix(step) { bench.receive(answer) }
            #expect(bench.completions.isEmpty, "\(name), \(step)")
            bench.cancel(id)
            bench.cancel(id)
            #expect(bench.takeResults() == [.failure(.cancelled)], "\(name), \(step)")
            let next = bench.start(.read(9))
            // The answer under way, then whatever the procedure needs to leave no trace on the server.
            bench.receive(answers[step])
            for _ in 0..<4 where bench.sent.last != "0a0900" {
                bench.receive(bench.sent.last?.hasPrefix("18") == true ? "19" : "13")
            }
            #expect(bench.sent.last == "0a0900", "\(name), \(step)")
            #expect(bench.completions.isEmpty, "\(name), \(step)")
            bench.receive("0b")
            #expect(bench.completions.map(\.id) == [next], "\(name), \(step)")
        }
    }

    @Test("a waiting operation is cancelled without a PDU")
    func cancelsWaiting() {
        var bench = ClientBench()
        bench.start(.read(3))
        let second = bench.start(.read(4))
        bench.cancel(second)
        bench.play("> 0a 0300\n< 0b")
        #expect(bench.takeResults() == [.failure(.cancelled), .success(.value([]))])
    }

    @Test("a cancelled prepared write leaves no parts in the server's queue")
    func cancelsPreparedWrite() {
        var bench = ClientBench()
        let id = bench.start(.writeLong(3, value: [UInt8](repeating: 1, count: 20)))
        _ = bench.takeSent()
        bench.cancel(id)
        bench.start(.read(4))
        bench.play(
            """
            < 17 0300 0000
            > 18 00
            < 19
            > 0a 0400
            """)
    }

    @Test("a client that leaves ends its own operations and no others (SPEC CEN-22, CEN-24)")
    func clientLeaves() {
        var bench = ClientBench()
        let guest = ClientID(rawValue: 7)
        let first = bench.start(.read(1), client: guest)
        let second = bench.start(.read(2))
        let third = bench.start(.write(3, value: [1]), client: guest)
        let fourth = bench.start(.writeCommand(4, value: [1]), client: guest)
        bench.leave(guest)
        #expect(bench.completions.map(\.id) == [first, third, fourth])
        #expect(bench.takeResults().allSatisfy { $0 == .failure(.cancelled) })
        _ = bench.takeSent()
        bench.commandSent(fourth)
        bench.receive("0b 01")
        bench.play("> 0a 0200\n< 0b 02")
        #expect(bench.completions.map(\.id) == [second])
    }

    @Test("a request without an answer for 30 s ends the bearer and everything that waits (pain 4)")
    func timesOut() {
        var bench = ClientBench()
        let first = bench.start(.discoverServices(uuids: []))
        bench.pass(.seconds(20))
        bench.receive("11 06 0100 0400 0118")
        let second = bench.start(.read(3))
        let third = bench.start(.writeCommand(3, value: [1]))
        #expect(bench.client.nextDeadline == Instant(microseconds: 50_000_000))
        bench.pass(.seconds(29))
        #expect(bench.completions.isEmpty)
        _ = bench.takeSent()
        bench.pass(.seconds(1))
        #expect(bench.completions.map(\.id) == [first, second, third])
        #expect(bench.takeResults().allSatisfy { $0 == .failure(.transactionTimeout) })
        #expect(bench.disconnects == 1)
        #expect(bench.client.nextDeadline == nil)
        // Nothing is sent any more: no answer, no confirmation, no request.
        for pdu in ["11 06 0500 0800 0d18", "1d 0300 01", "02 0001", "0a 0100", "1b 0300 01"] { bench.receive(pdu) }
        bench.start(.read(3))
        bench.start(.writeCommand(3, value: [1]))
        #expect(bench.sent.isEmpty && bench.events.isEmpty)
        #expect(bench.takeResults() == [.failure(.bearerClosed), .failure(.bearerClosed)])
        bench.close()
        #expect(bench.completions.isEmpty && bench.disconnects == 1)
    }

    @Test("an answer that comes after its 30 s is too late, also when the deadline was not processed")
    func lateAnswer() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.now = Instant(microseconds: 30_000_000)
        bench.receive("0b 01")
        #expect(bench.takeResults() == [.failure(.transactionTimeout)])
        #expect(bench.disconnects == 1)
    }

    @Test("without a link operations end at once")
    func notConnected() {
        var bench = ClientBench()
        bench.close()
        bench.start(.read(3))
        bench.start(.subscribe(3, configuration: 4, mode: .notifications))
        #expect(bench.takeResults() == [.failure(.notConnected), .failure(.notConnected)])
    }

    @Test("the number of waiting operations is limited")
    func operationLimit() {
        var settings = GATTClientSettings()
        settings.operationLimit = 2
        var bench = ClientBench(settings: settings)
        for handle in 1...4 { bench.start(.read(AttributeHandle(rawValue: UInt16(handle)))) }
        #expect(bench.takeResults() == [.failure(.queueFull)])
    }

    @Test("an idle client asks for no wake-up")
    func idle() {
        var bench = ClientBench()
        #expect(bench.client.nextDeadline == nil)
        bench.start(.read(3))
        #expect(bench.client.nextDeadline != nil)
        bench.receive("0b")
        #expect(bench.client.nextDeadline == nil)
    }
}
