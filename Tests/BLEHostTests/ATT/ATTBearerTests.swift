import BLEPackets
import Testing

@testable import BLEHost

@Suite("ATT bearer")
struct ATTBearerTests {
    @Test("the MTU is 23 until it has been exchanged, then the smaller of both (pain 9)")
    func exchange() {
        var bench = ClientBench()
        #expect(bench.client.mtu == 23)
        bench.start(.exchangeMTU(preferred: 185))
        bench.play("> 02 b900")
        #expect(bench.client.mtu == 23)
        bench.receive("03 0002")
        #expect(bench.client.mtu == 185)
        #expect(bench.takeEvents() == [.mtuChanged(185)])
        #expect(bench.takeResults() == [.success(.mtu(185))])
    }

    @Test("the MTU is exchanged once; later requests get the agreed value (pain 9)")
    func once() {
        var bench = ClientBench(mtu: 100)
        bench.start(.exchangeMTU(preferred: 200))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == [.success(.mtu(100))])
    }

    @Test("a peer without MTU exchange leaves it at 23 (pain 9)")
    func notSupported() {
        var bench = ClientBench()
        bench.start(.exchangeMTU(preferred: 185))
        bench.play("> 02 b900\n< 01 02 0000 06")
        #expect(bench.takeResults() == [.success(.mtu(23))])
        #expect(bench.events.isEmpty)
    }

    @Test("a peer's MTU below 23 counts as 23 (pain 9)", arguments: ["0000", "1600"])
    func tooSmall(number: String) {
        var bench = ClientBench()
        bench.start(.exchangeMTU(preferred: 185))
        bench.receive("03" + number)
        #expect(bench.takeResults() == [.success(.mtu(23))])
        bench.receive("02" + number)
        #expect(bench.takeSent().last == "03b900")
        #expect(bench.client.mtu == 23)
    }

    @Test("an MTU below 23 is requested as 23")
    func smallWish() {
        var bench = ClientBench()
        bench.start(.exchangeMTU(preferred: 5))
        #expect(bench.sent == ["021700"])
    }

    @Test("a peer's exchange is answered at any time, with the same MTU as ours (pain 9)")
    func peerExchange() {
        var bench = ClientBench()
        bench.start(.exchangeMTU(preferred: 185))
        bench.play(
            """
            > 02 b900
            < 02 6400
            > 03 b900
            < 03 6400
            """)
        #expect(bench.client.mtu == 100)
        #expect(bench.takeEvents() == [.mtuChanged(100)])
    }

    @Test("a peer that asks first gets our MTU, and we get the peer's when we ask (pain 9)")
    func peerFirst() {
        var bench = ClientBench()
        bench.play("< 02 f700\n> 03 0502")
        #expect(bench.takeEvents() == [.mtuChanged(247)])
        bench.start(.exchangeMTU(preferred: 185))
        bench.play("> 02 0502\n< 03 f700")
        #expect(bench.takeResults() == [.success(.mtu(247))])
    }

    @Test("a peer's repeated exchange is answered and never lowers the MTU (pain 9)")
    func repeated() {
        var bench = ClientBench()
        bench.play(
            """
            < 02 f700
            > 03 0502
            < 02 1700
            > 03 0502
            < 02 0000
            > 03 0502
            """)
        #expect(bench.client.mtu == 247)
    }

    @Test("a malformed exchange is Invalid PDU", arguments: ["02", "0217", "02170000"])
    func brokenExchange(pdu: String) {
        var bench = ClientBench()
        bench.receive(pdu)
        #expect(bench.sent == ["0102000004"])
        #expect(bench.client.mtu == 23)
    }

    @Test("unknown commands are ignored and counted", arguments: ["7f 01", "c0"])
    func commands(pdu: String) {
        var bench = ClientBench()
        bench.receive(pdu)
        #expect(bench.sent.isEmpty && bench.events.isEmpty && bench.forServer.isEmpty)
        #expect(bench.client.counters.ignoredCommands == 1)
    }

    @Test("the peer's requests go to the server, also while ours waits")
    func bothWays() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play("> 0a 0300\n< 0a 0100\n< 0b 07")
        #expect(bench.forServer == ["0a0100"])
        #expect(bench.takeResults() == [.success(.value([7]))])
    }

    @Test(
        "requests, commands and confirmations go to the server, the MTU exchange to the bearer",
        arguments: ["0a 0300", "52 0300 01", "d2 0300 01 000000000000000000000000", "3f", "1e"])
    func forServer(pdu: String) {
        var bench = ClientBench()
        bench.receive(pdu)
        #expect(bench.forServer == [pdu.filter { $0 != " " }])
        #expect(bench.events.isEmpty && bench.sent.isEmpty)
        bench.receive("02 f700")
        #expect(bench.takeSent() == ["030502"])
        #expect(bench.forServer.count == 1)
    }

    @Test("PDUs longer than the MTU are counted; a read takes of them what fits")
    func oversized() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.receive("0b" + String(repeating: "aa", count: 23))
        #expect(bench.client.counters.oversizedPDUs == 1)
        #expect(bench.takeSent() == ["0a0300", "0c03001600"])
    }
}

@Suite("Instants")
struct InstantTests {
    @Test("an instant moves by durations and never past its limits")
    func moves() {
        let start = Instant(microseconds: 5)
        #expect(start.advanced(by: .seconds(30)) == Instant(microseconds: 30_000_005))
        #expect(start.distance(to: .zero) == .microseconds(-5))
        #expect(Instant(microseconds: .max).advanced(by: .milliseconds(1)) == Instant(microseconds: .max))
        #expect(Instant(microseconds: .min).distance(to: Instant(microseconds: .max)).rawValue == .max)
        #expect(Microseconds(.milliseconds(1500)) == .milliseconds(1500))
        #expect(Microseconds(.seconds(Int64.max)).rawValue == .max)
    }
}
