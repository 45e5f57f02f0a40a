import Testing

@testable import BLEHost

/// The watch by itself: reports and silences in, steps out.
@Suite("What silence of a scan leads to")
struct ReceptionWatchTests {
    /// Plays a scan: the watch, the clock, and when the scan began or the last step was taken.
    private struct Player {
        var watch = ReceptionWatch()
        var now = Instant(microseconds: 1_000_000)
        var begin = Instant(microseconds: 1_000_000)
        /// The steps, each with the seconds since the beginning.
        var steps: [(step: ReceptionWatch.Step, at: Int64)] = []

        init(_ change: (inout ReceptionWatch.Terms) -> Void = { _ in }) { follow(change) }

        mutating func follow(_ change: (inout ReceptionWatch.Terms) -> Void) {
            var terms = ReceptionWatch.Terms()
            terms.mayRecover = true
            change(&terms)
            watch.follow(terms)
        }

        /// No client scans for a while.
        mutating func pause(for seconds: Int32) {
            now = now.advanced(by: .seconds(seconds))
            begin = now
        }

        mutating func silence(for seconds: Int32) {
            let end = now.advanced(by: .seconds(seconds))
            while watch.deadline(since: begin) <= end {
                now = watch.deadline(since: begin)
                let step = watch.silenceLasted(since: begin, at: now)
                steps.append((step, (now.microseconds - 1_000_000) / 1_000_000))
                if step == .recover { watch.controllerReset() }
                begin = now
            }
            now = end
        }

        mutating func reports(
            for seconds: Int32, every span: Microseconds = .milliseconds(100), isEmpty: Bool = false,
            isAdvertisement: Bool = true
        ) {
            let end = now.advanced(by: .seconds(seconds))
            while now.advanced(by: span) <= end {
                now = now.advanced(by: span)
                while watch.deadline(since: begin) <= now {
                    let step = watch.silenceLasted(since: begin, at: now)
                    steps.append((step, (now.microseconds - 1_000_000) / 1_000_000))
                    if step == .recover { watch.controllerReset() }
                    begin = now
                }
                watch.received(isAdvertisement: isAdvertisement, isEmpty: isEmpty, at: now)
            }
        }

        var kinds: [ReceptionWatch.Step] { steps.map(\.step) }
        var times: [Int64] { steps.map(\.at) }

        mutating func forget() { steps = [] }
    }

    @Test("after reports, silence leads to a restart, three recoveries and the word that the fault remains, once (A28)")
    func ladder() {
        var player = Player()
        player.reports(for: 60)
        player.silence(for: 110)
        #expect(player.kinds == [.restart, .recover, .recover, .recover, .faultRemains])
        #expect(player.times == [70, 90, 110, 130, 150])
        player.forget()
        player.silence(for: 3600)
        #expect(player.kinds.allSatisfy { $0 == .restart })
        #expect(9...16 ~= player.steps.count)
    }

    @Test("a place where nothing was ever received gets each step once, slowly, and no fault (A28)")
    func emptyPlace() {
        var player = Player()
        player.silence(for: 400)
        #expect(player.kinds == [.restart, .recover, .recover, .recover, .restart])
        #expect(player.times == [10, 30, 70, 150, 310])
        player.forget()
        player.silence(for: 86_400)
        #expect(player.kinds.allSatisfy { $0 == .restart })
        #expect(player.steps.count < 300)
    }

    @Test("some seconds of reports after each step do not make it begin from the first step (A28)")
    func shortSuccess() {
        var player = Player()
        player.reports(for: 60)
        for _ in 0..<9 {
            player.silence(for: 21)
            player.reports(for: 2)
        }
        #expect(player.kinds.prefix(5) == [.restart, .recover, .recover, .recover, .faultRemains])
        #expect(player.kinds.dropFirst(5).allSatisfy { $0 == .restart })
    }

    @Test("a minute of reports makes the next silence a new one (A28)")
    func forgets() {
        var player = Player()
        player.reports(for: 60)
        player.silence(for: 35)
        #expect(player.kinds == [.restart, .recover])
        player.reports(for: 71)
        player.forget()
        player.silence(for: 100)
        #expect(player.kinds == [.restart, .recover, .recover, .recover, .faultRemains])
        player.forget()
        // Less than a minute.
        player.reports(for: 55)
        player.silence(for: 60)
        #expect(player.kinds.allSatisfy { $0 == .restart })
    }

    @Test("with links open, only five minutes of silence after a hundred reports in a minute lead to recovery (A28)")
    func links() {
        var busy = Player { $0.hasLinks = true }
        busy.reports(for: 60)
        busy.silence(for: 299)
        #expect(busy.kinds.allSatisfy { $0 == .restart } && busy.steps.count > 3)
        busy.silence(for: 330)
        #expect(busy.kinds.contains(.recover))
        let first = busy.steps.first { $0.step == .recover }?.at ?? 0
        #expect(first >= 360)

        var quiet = Player { $0.hasLinks = true }
        quiet.reports(for: 60, every: .seconds(1))
        quiet.silence(for: 86_400)
        #expect(quiet.kinds.allSatisfy { $0 == .restart })
    }

    @Test("two recoveries with links open are five minutes apart (A28)")
    func linksAgain() {
        var player = Player { $0.hasLinks = true }
        player.reports(for: 60)
        player.silence(for: 7200)
        let recoveries = player.steps.filter { $0.step == .recover }.map(\.at)
        #expect(recoveries.count == 3)
        #expect(zip(recoveries, recoveries.dropFirst()).allSatisfy { $1 - $0 >= 300 })
    }

    @Test("the silence of a scan for certain devices leads to restarts only (A28)")
    func narrow() {
        var player = Player { $0.isNarrow = true }
        player.reports(for: 60)
        player.silence(for: 7200)
        #expect(player.kinds.allSatisfy { $0 == .restart })
        // The steps for all devices are still there.
        player.follow { _ in }
        player.forget()
        player.silence(for: 3600)
        #expect(player.kinds.contains(.recover))
    }

    @Test("on a shared controller, and where it is not asked for, silence leads to restarts as ever (A28)")
    func restartsOnly() {
        var player = Player { $0.mayRecover = false }
        player.silence(for: 400)
        #expect(player.kinds.allSatisfy { $0 == .restart })
        #expect(player.times == [10, 30, 70, 150, 310])
        player.forget()
        player.reports(for: 1)
        player.silence(for: 10)
        #expect(player.times == [411])
    }

    @Test("a scan of a tenth of the time waits ten times as long (A28)")
    func background() {
        var player = Player { $0.slowness = 10 }
        player.reports(for: 60)
        player.silence(for: 1100)
        #expect(player.times == [160, 360, 560, 760, 960])
        #expect(player.kinds == [.restart, .recover, .recover, .recover, .faultRemains])
    }

    @Test("where a device is received every 15 or 45 seconds, its pauses are no fault (A28)", arguments: [15, 45, 90])
    func fewDevices(pause: Int32) {
        var player = Player()
        player.reports(for: 86_400, every: .seconds(pause))
        #expect(player.kinds.count { $0 == .recover } <= 2, "only before the pause is known")
        #expect(!player.kinds.contains(.faultRemains))
        let last = player.steps.last { $0.step == .recover }?.at ?? 0
        #expect(last < 600)
    }

    @Test("a scan that begins hours after the last report may be at an empty place (A28)")
    func laterScan() {
        var player = Player()
        player.reports(for: 60)
        player.pause(for: 7200)
        player.silence(for: 400)
        #expect(player.kinds == [.restart, .recover, .recover, .recover, .faultRemains])
        #expect(player.times.map { $0 - 7260 } == [10, 30, 70, 150, 310])

        var links = Player { $0.hasLinks = true }
        links.reports(for: 60)
        links.pause(for: 7200)
        links.silence(for: 7200)
        #expect(links.kinds.allSatisfy { $0 == .restart })
    }

    @Test("half a minute of reports without data, after others with data, is silence (A29)")
    func emptied() {
        var player = Player()
        player.reports(for: 60)
        player.reports(for: 150, isEmpty: true)
        #expect(player.kinds.prefix(3) == [.restart, .recover, .recover])
        #expect(player.times.first.map { 90...115 ~= $0 } == true)
        player.reports(for: 100)
        player.forget()
        player.reports(for: 200)
        #expect(player.steps.isEmpty, "with data again, it is forgotten")
        player.silence(for: 11)
        #expect(player.kinds == [.restart])
    }

    @Test("where all devices have always been without data, where a few have data, and scan responses: no fault (A29)")
    func alwaysEmpty() {
        var player = Player()
        player.reports(for: 600, isEmpty: true)
        #expect(player.steps.isEmpty)

        var mixed = Player()
        mixed.reports(for: 60)
        for _ in 0..<300 {
            mixed.reports(for: 2, isEmpty: true)
            mixed.reports(for: 1, every: .seconds(1))
        }
        #expect(mixed.steps.isEmpty)

        var responses = Player()
        responses.reports(for: 60)
        responses.reports(for: 300, isEmpty: true, isAdvertisement: false)
        #expect(responses.steps.isEmpty)
    }

    @Test("fewer than fifty reports without data prove nothing (A29)")
    func fewEmpty() {
        var player = Player()
        player.reports(for: 60)
        player.reports(for: 300, every: .seconds(2), isEmpty: true)
        #expect(player.steps.isEmpty)
    }

    @Test("three thousand reports in ten seconds are a flood, fewer are none (A41)")
    func flood() {
        var player = Player()
        player.reports(for: 30, every: .milliseconds(4))
        #expect(!player.watch.isFlooded)
        player.reports(for: 30, every: .milliseconds(3))
        #expect(player.watch.isFlooded)
        player.reports(for: 30, every: .milliseconds(4))
        #expect(!player.watch.isFlooded)
    }

    @Test("time that jumps, also beyond all windows, changes nothing else (A28)")
    func jumps() {
        var watch = ReceptionWatch()
        for seconds in [1, 1_000_000, 2_000_000_000, 2_147_483_647] as [Int32] {
            let now = Instant.zero.advanced(by: .seconds(seconds))
            watch.received(isAdvertisement: true, isEmpty: false, at: now)
            #expect(watch.lastReport == now)
        }
        let end = Instant(microseconds: .max)
        watch.received(isAdvertisement: true, isEmpty: true, at: end)
        #expect(watch.deadline(since: end) == end)
    }
}
