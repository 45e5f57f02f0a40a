import BLEGateway
import BLEHost
import Testing

/// The wall clock is wrong, or is set while the gateway runs.
@Suite("Clocks that jump")
struct ClockTests {
    private static let sensor = "A4:C1:38:00:00:01"
    private static let other = "A4:C1:38:00:00:02"
    private static let hour: Int64 = 3600
    private static let day: Int64 = 86_400
    /// From the epoch to the start of the bench, in seconds: the error of a clock that begins in 1970.
    private static let sinceEpoch = Bench.start / 1_000_000

    private func announcing() -> GatewayConfiguration {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        return configuration
    }

    private func owner(_ name: String, of bench: Bench) -> RetainedOwner? {
        bench.gateway.retainedRecord.owners.first { $0.name == name }
    }

    @Test("documents have the time of the clock that was set, and their order and pace stay", arguments: [-7, 7])
    func documents(hours: Int64) throws {
        var bench = Bench()
        let first = try bench.receive(Self.sensor, Bench.temperature(2000))
        #expect(first.map { $0.text.contains(#""time":"2026-11-22T09:24:09.123Z""#) } == [true])
        #expect(bench.wait(30).isEmpty)
        bench.clockError = hours * Self.hour
        // Nothing is new before the 60 s of the refresh are over, whatever the clock says.
        for _ in 0..<30 {
            #expect(try bench.receive(Self.sensor, Bench.temperature(2000)).isEmpty)
            #expect(bench.wait(1).isEmpty)
        }
        let messages = try bench.receive(Self.sensor, Bench.temperature(2000)) + bench.wait(2)
        let time = hours < 0 ? "2026-11-22T02:25:0" : "2026-11-22T16:25:0"
        #expect(messages.count == 1)
        #expect(messages.first?.text.contains(#""time":"\#(time)"#) == true, "\(messages.first?.text ?? "")")
        #expect(messages.first?.text.contains(#""sequence":2"#) == true)
    }

    @Test("presence lasts as long as its time-out, whatever the clock says", arguments: [-7, 7])
    func presence(hours: Int64) throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.presence = PresenceRule()
        configuration.presence?.timeout = .seconds(60)
        configuration.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        var bench = Bench(configuration)
        #expect(try bench.receive(Self.sensor, "020106").first?.text == "home")
        bench.clockError = hours * Self.hour
        _ = try bench.receive(Self.other, "020106")
        #expect(bench.wait(55).filter { $0.kind == .presence }.isEmpty)
        #expect(bench.wait(10).filter { $0.kind == .presence }.map(\.text) == ["not_home"])
    }

    @Test("recorded packets are noticed, and fresh ones are used, after the clock was set", arguments: [-7, 7])
    func recordedPackets(hours: Int64) throws {
        let replays = ReplayTests()
        var bench = try replays.bench()
        #expect(try replays.temperature(bench.receive(replays.sensor, ReplayTests.degrees20At1000)) == "20")
        _ = bench.wait(20)
        #expect(try replays.temperature(bench.receive(replays.sensor, ReplayTests.degrees21At1001)) == "21")
        _ = bench.wait(20)
        bench.clockError = hours * Self.hour
        #expect(try bench.receive(replays.sensor, ReplayTests.degrees20At1000).isEmpty)
        #expect(bench.gateway.counters.replayedReports == 1)
        #expect(try replays.temperature(bench.receive(replays.sensor, ReplayTests.degrees22At1002)) == "22")
    }

    @Test("a machine that starts in 1970 keeps what is known of a device for long, and then goes by the right time")
    func startsInThePast() throws {
        var before = Bench(announcing())
        #expect(try before.receive(Self.sensor, Bench.temperature(2000)).contains { $0.kind == .discovery })
        var record = before.gateway.retainedRecord
        let last = Self.sinceEpoch - Self.day
        record.owners = record.owners.map { owner in
            guard owner.name == Self.sensor else { return owner }
            return RetainedOwner(
                name: owner.name, firstHeard: last - 40 * Self.day, lastHeard: last, isResolved: false)
        }
        var bench = Bench(announcing())
        bench.clockError = -Self.sinceEpoch
        bench.gateway.restore(record, at: bench.now, unix: bench.unix)
        // As if it had been heard just now, so it is removed after 30 days, not after an hour.
        _ = bench.wait(Double(2 * Self.hour))
        #expect(bench.gateway.withdrawnCount == 0)
        #expect(owner(Self.sensor, of: bench)?.lastHeard == last)
        bench.clockError = 0
        _ = try bench.receive(Self.other, "020106")
        _ = bench.wait(Double(28 * Self.day))
        #expect(bench.gateway.withdrawnCount == 0)
        #expect(owner(Self.sensor, of: bench)?.lastHeard == last)
        // 29 days and some hours by the right clock; soon they are 30.
        _ = bench.wait(Double(Self.day))
        #expect(bench.gateway.withdrawnCount > 0)
    }

    @Test("what was heard by a wrong clock is on disk by the right one, also of devices that are silent since")
    func clockIsSet() throws {
        var bench = Bench(announcing())
        bench.clockError = -Self.sinceEpoch
        bench.gateway.collectsRetainedChanges(true)
        bench.gateway.restore(RetainedRecord(), at: bench.now, unix: bench.unix)
        _ = try bench.receive(Self.sensor, Bench.temperature(2000))
        _ = bench.wait(600)
        #expect(owner(Self.sensor, of: bench)?.lastHeard == 0)
        _ = bench.gateway.drainRetainedChanges()
        bench.clockError = 0
        _ = try bench.receive(Self.other, "020106")
        let changed = bench.gateway.drainRetainedChanges().owners.first { $0.name == Self.sensor }
        #expect(changed?.firstHeard == Self.sinceEpoch)
        #expect(changed?.lastHeard == Self.sinceEpoch)
        // Less than a minute is how a clock is kept right.
        bench.clockError = 20
        _ = try bench.receive(Self.other, "020106")
        #expect(bench.gateway.drainRetainedChanges().owners.isEmpty)
        // After a restart it is not removed as a device that was not heard since 1970.
        var next = Bench(announcing())
        next.gateway.restore(bench.gateway.retainedRecord, at: next.now, unix: bench.unix + 5_000_000)
        _ = next.wait(120)
        #expect(next.gateway.withdrawnCount == 0)
    }
}
