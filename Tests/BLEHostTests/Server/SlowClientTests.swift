import BLEPackets
import Testing

@testable import BLEHost

/// One client that takes updates slowly costs the others nothing (SPEC PER-21, PER-22).
@Suite("GATT server: clients that fall behind")
struct SlowClientTests {
    private static let honest = ServerBench.link(1)
    private static let slow = ServerBench.link(2)

    /// Two clients subscribed to indications of 6; the honest one confirms at once.
    private func bench() throws -> ServerBench {
        let bench = ServerBench()
        bench.connect(Self.honest)
        bench.connect(Self.slow)
        _ = try bench.publish(.of(0x180D, [.dynamic(0x2A37, [.notify]), .dynamic(0x2A38, [.indicate])]))
        for link in [Self.honest, Self.slow] {
            _ = bench.ask("1204000100", from: link)
            _ = bench.ask("1207000200", from: link)
        }
        _ = bench.takeEvents()
        return bench
    }

    private func confirm(_ bench: ServerBench, _ link: LinkID = Self.honest) -> [String] {
        var got: [String] = []
        while let next = bench.take(link).first {
            got.append(next)
            bench.receive("1e", from: link)
        }
        return got
    }

    /// An app that sends every 200 ms, and again what was refused once it is told of room.
    private func send(
        _ count: Int, _ bench: ServerBench, each: Microseconds = .milliseconds(200),
        attack: (ServerBench, Int) -> Void = { _, _ in }
    ) -> [String] {
        var got: [String] = []
        var waiting: [UInt8] = []
        for turn in 0..<count {
            waiting.append(UInt8(truncatingIfNeeded: turn))
            if bench.takeEvents().contains(.readyToUpdate) || waiting.count == 1 {
                while let next = waiting.first, bench.update([next], of: 6) { waiting.removeFirst() }
            }
            got += confirm(bench)
            attack(bench, turn)
            bench.now = bench.now.advanced(by: each)
            bench.server.advance(to: bench.now)
            bench.drain()
        }
        return got
    }

    @Test("a client that confirms each indication after 25 s delays another by one second, once")
    func slowConfirmer() throws {
        let bench = try bench()
        // One minute.
        var stranger: [String] = []
        let got = send(300, bench) { bench, turn in
            guard turn % 125 == 124 else { return }
            stranger += bench.take(Self.slow)
            bench.receive("1e", from: Self.slow)
        }
        #expect(got.count >= 293)
        // In order, and none twice.
        let values = got.map { Int($0.suffix(2), radix: 16) ?? -1 }
        #expect(values == (0..<values.count).map { $0 & 0xFF })
        // The stranger has its own in order too, and misses what it had no room for.
        #expect(stranger.first == "1d060000" && stranger.dropFirst().first == "1d060001")
        #expect(bench.server.counters.clientsFallenBehind == 1)
        #expect(bench.server.counters.missedUpdates > 250)
    }

    @Test("an app that sends as fast as it can is delayed by a second at first, then hardly at all")
    func strangersThatComeAgain() throws {
        let bench = try bench()
        var number: UInt16 = 2
        let got = send(6000, bench, each: .milliseconds(10)) { bench, turn in
            guard turn % 150 == 149 else { return }
            // The same attacker under a new address.
            bench.disconnect(ServerBench.link(number))
            number += 1
            bench.connect(ServerBench.link(number))
            _ = bench.ask("1207000200", from: ServerBench.link(number))
        }
        #expect(got.count >= 5700)
    }

    @Test("the client that fell behind is reported once, and waited for again when it has caught up")
    func catchingUp() throws {
        let bench = try bench()
        _ = send(20, bench)
        #expect(bench.server.counters.clientsFallenBehind == 1)
        _ = confirm(bench, Self.slow)
        bench.advance(seconds: 10)
        _ = bench.takeEvents()
        var taken = 0
        while taken < 30, bench.update([1], of: 6) {
            taken += 1
            _ = confirm(bench)
        }
        // One is under way and ten wait: then it is waited for.
        #expect(taken == 11)
        _ = bench.takeEvents()
        bench.now = bench.now.advanced(by: .milliseconds(500))
        bench.server.advance(to: bench.now)
        bench.drain()
        #expect(bench.takeEvents() == [.fellBehind(Self.slow), .readyToUpdate])
        #expect(bench.update([2], of: 6))
    }

    @Test("a peer that acknowledges nothing on the air delays no other peer's notifications")
    func silentLinkLayer() throws {
        let bench = try bench()
        bench.holdsBack = true
        var sent = 0
        for turn in 0..<100 {
            if bench.update([UInt8(turn)], of: 3) { sent += 1 }
            // The controller passes on what is for the honest one alone.
            while let index = bench.unsent.firstIndex(where: { $0.link == Self.honest }) {
                let (tag, link) = bench.unsent.remove(at: index)
                bench.server.sent(tag, to: link, at: bench.now)
                bench.drain()
            }
            bench.now = bench.now.advanced(by: .milliseconds(100))
            bench.server.advance(to: bench.now)
            bench.drain()
        }
        #expect(sent >= 88)
        #expect(bench.take(Self.honest).count == sent)
        #expect(bench.take(Self.slow).count == bench.server.settings.updateLimit)
    }

    @Test("a sole client is waited for, however slow it is: nothing is lost (SPEC PER-22)")
    func alone() throws {
        let bench = try bench()
        bench.disconnect(Self.honest)
        _ = bench.takeEvents()
        while bench.update([1], of: 6) {}
        bench.advance(seconds: 25)
        #expect(bench.events.isEmpty)
        #expect(!bench.update([2], of: 6))
        for _ in 0..<6 { bench.receive("1e", from: Self.slow) }
        #expect(bench.events.count { $0 == .readyToUpdate } == 1)
        #expect(bench.server.counters.missedUpdates == 0)
    }

    @Test("when all are full and one of them gets room, the app is told; it does not spin when none has")
    func allFull() throws {
        let bench = try bench()
        while bench.update([1], of: 6) {}
        bench.advance(seconds: 5)
        #expect(bench.takeEvents().isEmpty)
        _ = confirm(bench)
        bench.now = bench.now.advanced(by: .seconds(1))
        bench.server.advance(to: bench.now)
        bench.drain()
        #expect(bench.takeEvents().contains(.readyToUpdate))
        while bench.update([2], of: 6) {}
        bench.advance(seconds: 15)
        // The honest one has stopped too: nobody has room, nobody is told of any.
        #expect(bench.takeEvents().isEmpty)
    }
}
