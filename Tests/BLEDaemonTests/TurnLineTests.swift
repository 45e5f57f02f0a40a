import BLEHost
import Testing

@testable import BLEDaemon

@Suite("Pace of programs")
struct TurnLineTests {
    private let first = ClientID(rawValue: 1)
    private let second = ClientID(rawValue: 2)
    private let calm = ClientID(rawValue: 3)
    private var line = TurnLine()

    @Test("one busy program never waits")
    mutating func lone() {
        var now: UInt64 = 1_000_000
        for _ in 0..<1000 {
            line.append(first, of: 1, isBusy: true)
            #expect(line.nextTurn(at: now) == now)
            #expect(line.next(at: now)?.client == first)
            line.ended(first, of: 1, began: now, at: now + 80)
            now += 80
        }
    }

    @Test("two busy programs together get an eighth of the time, another program's turn comes at once")
    mutating func several() throws {
        let began: UInt64 = 1_000_000
        var now = began
        var turns: [ClientID: Int] = [:]
        line.append(first, of: 1, isBusy: true)
        line.append(second, of: 1, isBusy: true)
        while now < began + 1_000_000 {
            let next = line.next(at: now)
            let turn = try #require(next)
            #expect(turn.isBusy)
            line.ended(turn.client, of: 1, began: now, at: now + 100)
            now += 100
            turns[turn.client, default: 0] += 1
            line.append(turn.client, of: 1, isBusy: true)
            #expect(line.next(at: now) == nil)
            line.append(calm, of: 1, isBusy: false)
            #expect(line.nextTurn(at: now) == now)
            #expect(line.next(at: now)?.client == calm)
            now = try #require(line.nextTurn(at: now))
        }
        #expect(turns == [first: 625, second: 625])
    }

    @Test("a busy program gets its turn although the requests of others never end, and they wait for no more than that")
    mutating func neverEnding() throws {
        line.append(first, of: 1, isBusy: true)
        var turns: [Bool] = []
        for _ in 0..<(3 * (TurnLine.patience + 1)) {
            line.append(calm, of: 1, isBusy: false)
            let next = line.next(at: 1000)
            let turn = try #require(next)
            turns.append(turn.isBusy)
            guard turn.isBusy else { continue }
            line.ended(first, of: 1, began: 1000, at: 1000)
            line.append(first, of: 1, isBusy: true)
        }
        let once = Array(repeating: false, count: TurnLine.patience) + [true]
        #expect(turns == once + once + once)
    }

    @Test("turns of others while a busy program has to wait anyhow do not bring its own nearer")
    mutating func pausing() {
        line.append(first, of: 1, isBusy: true)
        line.append(second, of: 1, isBusy: true)
        #expect(line.next(at: 1000)?.client == first)
        line.ended(first, of: 1, began: 1000, at: 1100)
        for _ in 0..<(2 * TurnLine.patience) {
            line.append(calm, of: 1, isBusy: false)
            #expect(line.next(at: 1100)?.client == calm)
        }
        for _ in 0..<TurnLine.patience {
            line.append(calm, of: 1, isBusy: false)
            #expect(line.next(at: 1800)?.client == calm)
        }
        line.append(calm, of: 1, isBusy: false)
        #expect(line.next(at: 1800)?.client == second)
    }

    @Test("programs count as several also when they never wait at the same time")
    mutating func turnAbout() {
        line.append(first, of: 1, isBusy: true)
        #expect(line.next(at: 1000)?.client == first)
        line.ended(first, of: 1, began: 1000, at: 1100)
        line.append(second, of: 1, isBusy: true)
        #expect(line.next(at: 1100)?.client == second)
        line.ended(second, of: 1, began: 1100, at: 1200)
        line.append(first, of: 1, isBusy: true)
        #expect(line.next(at: 1200) == nil)
        #expect(line.nextTurn(at: 1200) == 1900)
        #expect(line.next(at: 1900)?.client == first)
    }

    @Test("after the others have ended, the last busy program waits no more")
    mutating func lastOne() {
        line.append(first, of: 1, isBusy: true)
        line.append(second, of: 1, isBusy: true)
        #expect(line.next(at: 1000)?.client == first)
        line.ended(first, of: 1, began: 1000, at: 1100)
        var now: UInt64 = 1800
        #expect(line.next(at: now)?.client == second)
        line.ended(second, of: 1, began: now, at: now + 100)
        while now < 1800 + 2 * BusyMeter.window {
            line.append(second, of: 1, isBusy: true)
            now = line.nextTurn(at: now) ?? 0
            #expect(line.next(at: now)?.client == second)
            line.ended(second, of: 1, began: now, at: now + 100)
            now += 100
        }
        line.append(second, of: 1, isBusy: true)
        #expect(line.nextTurn(at: now) == now)
    }

    @Test("a turn that the machine held up for a second pauses others for no more than 20 ms")
    mutating func heldUp() {
        line.append(first, of: 1, isBusy: true)
        line.append(second, of: 1, isBusy: true)
        #expect(line.next(at: 1000)?.client == first)
        line.ended(first, of: 1, began: 1000, at: 1_001_000)
        #expect(line.nextTurn(at: 1_001_000) == 1_021_000)
    }

    @Test("thirty busy programs of one user make one of another user wait for no longer than one of their turns lasts")
    mutating func users() throws {
        for number: UInt32 in 10..<40 { line.append(ClientID(rawValue: number), of: 1, isBusy: true) }
        var now: UInt64 = 1000
        var waits: [UInt64] = []
        for _ in 0..<100 {
            line.append(calm, of: 2, isBusy: true)
            let began = now
            while true {
                let next = line.next(at: now)
                guard let turn = next else {
                    now = try #require(line.nextTurn(at: now))
                    continue
                }
                let (user, duration): (UInt32, UInt64) = turn.client == calm ? (2, 100) : (1, 5000)
                line.ended(turn.client, of: user, began: now, at: now + duration)
                now += duration
                if user == 2 { break }
                line.append(turn.client, of: user, isBusy: true)
            }
            waits.append(now - began)
        }
        // Its own rest, a turn of the others, the pause after that, and its own turn.
        let longest = try #require(waits.max())
        let limit: UInt64 = 7 * 100 + 2 * 5000 + 100
        #expect(longest <= limit)
        let sum: UInt64 = waits.reduce(0, +)
        #expect(sum < 100 * 2000)
    }

    @Test("a program is busy when it exceeds its part of what all may ask for, and then for a while")
    func share() {
        var share = BusyMeter()
        share.spend(BusyMeter.ofAll / 4, of: 4, 1, at: 1000)
        #expect(!share.isBusy(at: 1000))
        share.spend(1, of: 4, 1, at: 1001)
        #expect(share.isBusy(at: 1001))
        #expect(share.isBusy(at: 1000 + BusyMeter.window))
        #expect(!share.isBusy(at: 1001 + BusyMeter.window))
        // Slowly, it may ask for as much as it likes.
        for number in 2...1000 {
            share.spend(BusyMeter.ofAll / 4, of: 4, 1, at: UInt64(number) * BusyMeter.window + 1001)
            #expect(!share.isBusy(at: UInt64(number) * BusyMeter.window + 1001))
        }
        // What another user's programs are does not matter.
        share = BusyMeter()
        share.spend(BusyMeter.ofAll / 2, of: 1, 2, at: 1000)
        #expect(!share.isBusy(at: 1000))
        // However many there are, one request is not too much.
        share = BusyMeter()
        share.spend(1, of: 1000, 1, at: 1000)
        #expect(!share.isBusy(at: 1000))
    }
}
