import BLEPackets
import Testing

@testable import BLEHost

/// What a client cannot take yet stays with its sender (Core 5.4, Vol 3, Part F, 3.4.7.2).
@Suite("GATT client: indications that wait")
struct HeldIndicationTests {
    private static let slow = ClientID(rawValue: 7)

    private func bench() -> ClientBench {
        var bench = ClientBench()
        bench.start(.subscribe(3, configuration: 4, mode: .indications), client: Self.slow)
        bench.receive("13")
        bench.start(.subscribe(6, configuration: 7, mode: .indications), client: .local)
        bench.receive("13")
        _ = bench.takeSent()
        _ = bench.takeEvents()
        return bench
    }

    private func hold(_ clients: [ClientID], _ bench: inout ClientBench) {
        bench.client.withholdConfirmations(for: clients, at: bench.now)
        bench.drain()
    }

    private func values(_ bench: inout ClientBench) -> [[UInt8]] {
        bench.takeEvents().compactMap { if case .notification(let value) = $0 { value.value } else { nil } }
    }

    @Test("it is confirmed and delivered once the client has room; other clients' values are not delayed")
    func held() {
        var bench = bench()
        hold([Self.slow], &bench)
        bench.receive("1d 0300 01")
        #expect(bench.takeSent().isEmpty && values(&bench).isEmpty)
        bench.receive("1d 0600 02")
        #expect(bench.takeSent() == ["1e"])
        #expect(values(&bench) == [[2]])
        // Notifications are not held: nobody waits for them.
        bench.receive("1b 0300 03")
        #expect(values(&bench) == [[3]])
        hold([], &bench)
        #expect(bench.takeSent() == ["1e"])
        #expect(values(&bench) == [[1]])
    }

    @Test("a sender that does not wait for the confirmation uses bounded memory")
    func flood() {
        var bench = bench()
        hold([Self.slow], &bench)
        for _ in 0..<10_000 { bench.receive("1d 0300 01") }
        #expect(bench.client.counters.unconfirmedIndications == 9_999)
        hold([], &bench)
        #expect(bench.takeSent() == ["1e"] && values(&bench).count == 1)
    }

    @Test("if the client without room leaves, it is confirmed and the sender continues")
    func left() {
        var bench = bench()
        hold([Self.slow], &bench)
        bench.receive("1d 0300 01")
        bench.leave(Self.slow)
        #expect(bench.takeSent().contains("1e"))
    }
}
