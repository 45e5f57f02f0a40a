import BLEPackets
import Testing

@testable import BLEHost

/// A client that says itself when it has taken an indication (Core 5.4, Vol 3, Part F, 3.4.7.3).
@Suite("GATT client: indications that clients confirm")
struct ConfirmedIndicationTests {
    private static let first = ClientID(rawValue: 7)
    private static let second = ClientID(rawValue: 8)

    private func bench(_ clients: ClientID...) -> ClientBench {
        var bench = ClientBench()
        for client in clients { bench.start(.subscribeConfirming(3, configuration: 4), client: client) }
        bench.receive("13")
        _ = bench.takeSent()
        _ = bench.takeEvents()
        return bench
    }

    private func values(_ bench: inout ClientBench) -> [[UInt8]] {
        bench.takeEvents().compactMap { if case .notification(let value) = $0 { value.value } else { nil } }
    }

    @Test("the value comes first, and the confirmation when all clients have taken it, once")
    func confirmed() {
        var bench = bench(Self.first, Self.second)
        bench.receive("1d 0300 01")
        #expect(values(&bench) == [[1]] && bench.takeSent().isEmpty)
        bench.start(.confirm(3), client: Self.first)
        bench.start(.confirm(3), client: Self.first)
        bench.start(.confirm(6), client: Self.second)
        #expect(bench.takeSent().isEmpty)
        bench.start(.confirm(3), client: Self.second)
        #expect(bench.takeSent() == ["1e"])
        bench.start(.confirm(3), client: Self.second)
        #expect(bench.takeSent().isEmpty)
        bench.receive("1d 0300 02")
        #expect(values(&bench) == [[2]] && bench.takeSent().isEmpty)
    }

    @Test("a client that hangs is waited for a while, one that leaves or unsubscribes is not")
    func gone() {
        var bench = bench(Self.first, Self.second)
        bench.receive("1d 0300 01")
        bench.pass(.seconds(4))
        #expect(bench.takeSent().isEmpty)
        bench.pass(.seconds(2))
        #expect(bench.takeSent() == ["1e"] && bench.client.nextDeadline == nil)
        bench.receive("1d 0300 02")
        bench.start(.confirm(3), client: Self.first)
        bench.leave(Self.second)
        #expect(bench.takeSent() == ["1e"])
        bench.receive("1d 0300 03")
        bench.start(.unsubscribe(3), client: Self.first)
        #expect(bench.takeSent() == ["1e", "1204000000"])
    }

    @Test("one that has gone is not waited for when another confirms later")
    func oneOfTwoGone() {
        var bench = bench(Self.first, Self.second)
        bench.receive("1d 0300 01")
        bench.leave(Self.first)
        #expect(bench.takeSent().isEmpty)
        bench.start(.confirm(3), client: Self.second)
        #expect(bench.takeSent() == ["1e"])
    }

    @Test("a sender that does not wait for the confirmation uses bounded memory, and is confirmed once")
    func flood() {
        var bench = bench(Self.first)
        for _ in 0..<10_000 { bench.receive("1d 0300 01") }
        #expect(values(&bench).count == 1)
        #expect(bench.client.counters.unconfirmedIndications == 9_999)
        bench.start(.confirm(3), client: Self.first)
        #expect(bench.takeSent() == ["1e"])
    }

    @Test("other clients of the value do not confirm for it, and values before the subscription are confirmed at once")
    func others() {
        var bench = bench()
        bench.start(.subscribe(3, configuration: 4, mode: .indications), client: Self.second)
        bench.receive("1d 0300 01")
        #expect(bench.takeSent() == ["1204000200", "1e"])
        bench.receive("13")
        bench.start(.subscribeConfirming(3, configuration: 4), client: Self.first)
        bench.receive("1d 0300 02")
        bench.start(.confirm(3), client: Self.second)
        #expect(bench.takeSent().isEmpty)
        bench.start(.confirm(3), client: Self.first)
        #expect(bench.takeSent() == ["1e"])
    }

    @Test("a part of a value is written from its offset on; the echo of a reliable write has to be that of the part")
    func parts() {
        var bench = ClientBench()
        bench.start(.writePart(9, offset: 0x102, value: [1, 2], isReliable: true))
        #expect(bench.takeSent() == ["16090002010102"])
        bench.receive("17 0900 0201 0102")
        #expect(bench.takeSent() == ["1801"])
        bench.receive("19")
        #expect(bench.completions.last?.result == .success(.written))
        bench.start(.writePart(9, offset: 2, value: [1], isReliable: true))
        bench.receive("17 0900 0300 01")
        #expect(bench.takeSent().last == "1800")
        bench.receive("19")
        #expect(bench.completions.last?.result == .failure(.reliableWriteMismatch(9)))
        bench.start(.writePart(9, offset: 0xFFFF, value: [1], isReliable: false))
        #expect(bench.completions.last?.result == .failure(.valueTooLong(limit: 512)))
    }
}
