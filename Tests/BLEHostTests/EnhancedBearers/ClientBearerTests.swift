import BLEPackets
import Testing

@testable import BLEHost

/// The GATT client with several bearers: what runs at the same time, what keeps its order, and how all of it ends.
@Suite("Client with enhanced bearers")
struct ClientBearerTests {
    private let first = AttributeHandle(rawValue: 0x10)
    private let second = AttributeHandle(rawValue: 0x20)
    private let app = ClientID(rawValue: 7)

    private func bench() -> ClientBench {
        var bench = ClientBench(mtu: 100)
        bench.open(1)
        bench.open(2)
        return bench
    }

    @Test("reads run at the same time, each on a bearer of its own, and end with their own answers")
    func reads() {
        var bench = bench()
        let ids = [0x10, 0x20, 0x30, 0x40].map { bench.start(.read(AttributeHandle(rawValue: $0))) }
        #expect(bench.takeSent(on: 1) == ["0a1000"])
        #expect(bench.takeSent(on: 2) == ["0a2000"])
        #expect(bench.takeSent() == ["0a3000"])
        bench.receive("0b02", on: 2)
        #expect(bench.takeSent(on: 2) == ["0a4000"])
        bench.receive("0b04", on: 2)
        bench.receive("0b03")
        bench.receive("0b01", on: 1)
        #expect(bench.completions.map(\.id) == [ids[1], ids[3], ids[2], ids[0]])
        #expect(
            bench.takeResults() == [
                .success(.value([2])), .success(.value([4])), .success(.value([3])), .success(.value([1])),
            ])
    }

    @Test("operations of one client keep their order around one with an effect; another client's run meanwhile")
    func order() {
        var bench = bench()
        bench.start(.write(first, value: [1]))
        bench.start(.read(second))
        bench.start(.write(second, value: [2]))
        #expect(bench.takeSent(on: 1) == ["12100001"] && bench.takeSent(on: 2).isEmpty && bench.takeSent().isEmpty)
        bench.start(.read(AttributeHandle(rawValue: 0x30)), client: app)
        #expect(bench.takeSent(on: 2) == ["0a3000"])
        bench.start(.read(first), client: app)
        #expect(bench.takeSent().isEmpty, "the value is being written by another client")
        bench.receive("13", on: 1)
        #expect(bench.takeSent(on: 1) == ["0a2000"] && bench.takeSent() == ["0a1000"])
        bench.receive("0b05", on: 1)
        #expect(bench.takeSent(on: 1) == ["12200002"])
    }

    @Test("write commands keep their order: all go over the unenhanced bearer, also past waiting requests")
    func commands() {
        var bench = bench()
        bench.start(.read(second))
        for octet in 1...3 as ClosedRange<UInt8> { bench.start(.writeCommand(first, value: [octet])) }
        #expect(bench.takeSent() == ["52100001", "52100002", "52100003"])
    }

    @Test("a long value is read on one bearer, by its ATT_MTU")
    func longValues() {
        var bench = bench()
        bench.start(.read(first))
        #expect(bench.takeSent(on: 1) == ["0a1000"])
        bench.receive("0b" + String(repeating: "01", count: 63), on: 1)
        #expect(bench.takeSent(on: 1) == ["0c10003f00"] && bench.takeSent().isEmpty && bench.takeSent(on: 2).isEmpty)
        bench.receive("0d02", on: 1)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 1, count: 63) + [2]))])
    }

    @Test("a response on the wrong bearer ends nothing; the right one still does")
    func wrongBearer() {
        var bench = bench()
        bench.start(.read(first))
        bench.receive("0b09", on: 2)
        bench.receive("0b09")
        bench.receive("0b09", on: 5)
        #expect(bench.completions.isEmpty)
        bench.receive("0b01", on: 1)
        #expect(bench.takeResults() == [.success(.value([1]))])
        bench.close(2)
        #expect(bench.client.counters.unexpectedResponses == 2)
    }

    @Test("a bearer that closes: reads run again elsewhere, writes have failed, and each ends once")
    func closes() {
        var bench = bench()
        let read = bench.start(.read(first))
        let write = bench.start(.write(second, value: [1]), client: app)
        #expect(bench.takeSent(on: 1) == ["0a1000"] && bench.takeSent(on: 2) == ["12200001"])
        bench.close(1)
        #expect(bench.takeSent() == ["0a1000"])
        bench.close(2)
        bench.receive("13", on: 2)
        bench.receive("0b01", on: 1)
        bench.receive("0b01")
        #expect(bench.completions.map(\.id) == [write, read])
        #expect(bench.takeResults() == [.failure(.bearerClosed), .success(.value([1]))])
    }

    @Test("an operation whose bearer the peer closes runs again once, where the peer cannot close it again")
    func runsAgainOnce() {
        var bench = bench()
        bench.start(.read(first))
        #expect(bench.takeSent(on: 1) == ["0a1000"])
        bench.close(1)
        #expect(bench.takeSent(on: 2).isEmpty && bench.takeSent() == ["0a1000"])
        bench.open(3)
        bench.close(2)
        #expect(bench.takeSent(on: 3).isEmpty && bench.takeSent().isEmpty)
        bench.pass(.seconds(31))
        #expect(bench.takeResults() == [.failure(.transactionTimeout)] && bench.disconnects == 1)
    }

    @Test("a request that is never answered ends its enhanced bearer, not the link (Part F, 3.3.3)")
    func timeout() {
        var bench = bench()
        let late = bench.start(.read(first))
        bench.pass(.seconds(20))
        bench.start(.read(second))
        bench.pass(.seconds(11))
        #expect(bench.completions.map(\.id) == [late])
        #expect(bench.takeResults() == [.failure(.transactionTimeout)])
        #expect(bench.closedBearers == [1] && bench.disconnects == 0)
        bench.receive("0b01", on: 1)
        bench.start(.read(first))
        #expect(bench.takeSent(on: 1) == ["0a1000"], "only the first one")
        #expect(bench.takeSent() == ["0a1000"])
        bench.close(1)
        bench.receive("0b02", on: 2)
        bench.receive("0b03")
        #expect(bench.takeResults() == [.success(.value([2])), .success(.value([3]))])
        bench.start(.write(first, value: [1]))
        bench.pass(.seconds(31))
        #expect(bench.closedBearers == [1, 2] && bench.disconnects == 0)
        bench.close(2)
        bench.start(.read(first))
        bench.pass(.seconds(31))
        #expect(bench.disconnects == 1)
    }

    @Test("cancelled operations and clients that leave end once, wherever they run; the link's end ends all")
    func ends() {
        var bench = bench()
        let cancelled = bench.start(.read(first))
        bench.start(.read(second), client: app)
        bench.cancel(cancelled)
        bench.leave(app)
        #expect(bench.takeResults() == [.failure(.cancelled), .failure(.cancelled)])
        bench.start(.read(AttributeHandle(rawValue: 0x30)))
        bench.receive("0b01", on: 1)
        bench.receive("0b01", on: 2)
        #expect(bench.takeResults().isEmpty)
        for handle in 0x40...0x45 as ClosedRange<UInt16> { bench.start(.read(AttributeHandle(rawValue: handle))) }
        bench.close()
        #expect(bench.takeResults().count == 7)
        bench.receive("0b01", on: 1)
        bench.close(1)
        #expect(bench.takeResults().isEmpty)
    }

    @Test("an exchange of ATT_MTU and server's PDUs on an enhanced bearer")
    func peersPDUs() {
        var bench = bench()
        bench.receive("02 f7 00", on: 1)
        #expect(bench.takeSent(on: 1) == ["0102000006"] && bench.client.mtu == 100)
        bench.receive("0a 01 00", on: 2)
        #expect(bench.forServer == ["0a 01 00"])
        bench.receive("1d 10 00 05", on: 2)
        #expect(bench.takeSent(on: 2) == ["1e"] && bench.takeSent().isEmpty, "confirmed where it came")
        bench.receive("23 10 00 01 00 05 20 00 02 00 06 07", on: 1)
        #expect(bench.client.early.values.map(\.value) == [[5], [5], [6, 7]])
    }

    @Test("indications that clients hold are confirmed later, each on its bearer")
    func heldIndications() {
        var bench = bench()
        bench.start(.subscribe(first, configuration: AttributeHandle(rawValue: 0x11), mode: .indications))
        bench.receive("13", on: 1)
        _ = bench.takeSent(on: 1)
        bench.client.withholdConfirmations(for: [.local], at: bench.now)
        bench.receive("1d 10 00 01", on: 1)
        bench.receive("1d 10 00 02", on: 2)
        #expect(bench.takeSent(on: 1).isEmpty && bench.takeSent(on: 2).isEmpty)
        bench.client.withholdConfirmations(for: [], at: bench.now)
        bench.drain()
        #expect(bench.takeSent(on: 1) == ["1e"] && bench.takeSent(on: 2) == ["1e"])
    }

    @Test("whatever the peer answers on whichever bearer, each operation ends once")
    func fuzzed() {
        var random = SystemIndependentGenerator(seed: 41)
        for _ in 0..<200 {
            var bench = bench()
            var ids: [OperationID] = []
            for _ in 0..<60 {
                let handle = AttributeHandle(rawValue: UInt16(random.next(4)) + 0x10)
                let owner = ClientID(rawValue: UInt32(random.next(2)))
                switch random.next(12) {
                case 0: ids.append(bench.start(.read(handle), client: owner))
                case 1: ids.append(bench.start(.write(handle, value: [1]), client: owner))
                case 2: ids.append(bench.start(.discoverServices(uuids: []), client: owner))
                case 3:
                    ids.append(bench.start(.subscribe(handle, configuration: first, mode: .indications), client: owner))
                case 4: bench.close(UInt32(random.next(3)) + 1)
                case 5: bench.open(UInt32(random.next(3)) + 1)
                case 6: if let id = ids.last { bench.cancel(id) }
                case 7: bench.pass(.seconds(Int32(random.next(12))))
                default:
                    let answers = ["0b01", "13", "0108010000a", "01120000 05", "01 0a 10 00 05", "1d 10 00 01", "11"]
                    let text = answers[random.next(answers.count)]
                    random.next(3) == 0 ? bench.receive(text) : bench.receive(text, on: UInt32(random.next(3)) + 1)
                }
            }
            bench.close()
            #expect(bench.completions.map(\.id).sorted() == ids.sorted())
        }
    }
}

/// A generator whose numbers are the same everywhere.
private struct SystemIndependentGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
