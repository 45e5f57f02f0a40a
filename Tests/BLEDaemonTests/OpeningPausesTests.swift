import Testing

@testable import BLEDaemon

@Suite("Pauses before a lost controller is opened again")
struct OpeningPausesTests {
    @Test("an adapter that falls again and again is waited for up to minutes; its arrivals do not shorten that (A81)")
    func falls() {
        var pauses = OpeningPauses()
        var now: UInt64 = 0
        var waits: [UInt64] = []
        for _ in 0..<12 {
            let until = pauses.fell(at: now)
            waits.append(until - now)
            // It is back at once.
            #expect(pauses.hasCome(at: now + 1000) == until)
            // It is ready for a moment.
            now = until
            pauses.isReady(at: now)
            now += 500_000
        }
        #expect(waits[0] == 250_000 && waits[4] == 4_000_000 && waits.last == 120_000_000)
        #expect(pauses.isFlapping)
        // An hour has few tries.
        #expect(3600 / (120 + 1) < 31)
    }

    @Test("what worked for a minute begins anew, and a stick that is pulled out and put in is opened at once (A81)")
    func forgotten() {
        var pauses = OpeningPauses()
        for round in 0..<20 { _ = pauses.fell(at: UInt64(round) * 1_000_000) }
        pauses.isReady(at: 100_000_000)
        #expect(pauses.fell(at: 100_000_000 + OpeningPauses.stable) - 160_000_000 == 250_000)
        #expect(!pauses.isFlapping)
        // It is pulled out, and not there for long.
        var now: UInt64 = 160_000_000
        for _ in 0..<10 { now = pauses.wasRefused(at: now) }
        #expect(pauses.wasRefused(at: now) - now == 4_000_000)
        #expect(pauses.hasCome(at: now) == now)
        #expect(pauses.wasRefused(at: now) - now == 250_000)
    }
}
