import BLEGateway
import BLEHost
import BLEPackets
import BLESensors
import Testing

@Suite("Devices that count anew, and those who only send what they recorded")
struct ReplayProofTests {
    let sensor = SealedPackets.address

    func bench() throws -> Bench {
        var configuration = GatewayConfiguration(name: "g")
        configuration.devices = [try device()]
        return Bench(configuration)
    }

    func device(_ key: [UInt8] = SealedPackets.key) throws -> KnownDevice {
        var device = KnownDevice(address: try #require(DeviceAddress(sensor)).value)
        device.key = key
        return device
    }

    /// The temperature of a packet that was published; `nil`: nothing was.
    func receive(_ degrees: Int, _ counter: UInt32, in bench: inout Bench, adapter: Int = 0) throws -> String? {
        let packet = SealedPackets.temperature(degrees, counter: counter)
        let messages = try bench.receive(sensor, packet, adapter: adapter) + bench.wait(5)
        return temperature(messages)
    }

    func temperature(_ messages: [GatewayMessage]) -> String? {
        guard let text = messages.last?.text, let range = text.firstRange(of: #""temperature":"#) else { return nil }
        return String(text[range.upperBound...].prefix { $0 != "," && $0 != "}" })
    }

    /// The device sends as many packets as a proof needs, and the last one is published.
    func prove(_ degrees: Int, from counter: UInt32, in bench: inout Bench) throws {
        for number in UInt32(0)..<3 { #expect(try receive(degrees, counter + number, in: &bench) == nil) }
        #expect(try receive(degrees, counter + 3, in: &bench) == "\(degrees)")
    }

    /// A gateway that was started again, with what the last one left.
    func startedAgain(_ bench: Bench, counters: Bool = true, packets: Bool = true) throws -> Bench {
        var next = Bench(bench.gateway.configuration)
        if packets {
            let isWhole = next.gateway.restore(heardPackets: bench.gateway.heardPackets)
            #expect(isWhole)
        }
        if counters {
            let text = ReplayCounter.text(of: bench.gateway.replayCounters)
            next.gateway.restore(ReplayCounter.counters(in: text).counters, at: next.now)
        }
        next.now = bench.now
        return next
    }

    /// A sensor that counted to 1002, and whose battery was then changed.
    func changedBattery() throws -> Bench {
        var bench = try bench()
        for counter in UInt32(900)...1002 { #expect(try receive(20, counter, in: &bench) != nil || counter > 900) }
        _ = bench.wait(300)
        try prove(25, from: 5, in: &bench)
        return bench
    }

    @Test("a counter that fell back is used after four new packets in ten seconds, and that is told")
    func proof() throws {
        var bench = try bench()
        #expect(try receive(20, 5000, in: &bench) == "20")
        _ = bench.wait(60)
        try prove(25, from: 7, in: &bench)
        let notices = bench.gateway.drainNotices()
        #expect(
            notices.map(\.kind) == [
                .replayed(counter: 7, last: 5000, isUsed: false), .restarted(counter: 10, last: 5000),
            ])
        #expect(try #require(notices.last).description.contains("was its battery changed?"))
        #expect(try receive(26, 11, in: &bench) == "26")
    }

    @Test("the proof may begin as soon as the old series ends")
    func atOnce() throws {
        var bench = try bench()
        #expect(try receive(20, 1000, in: &bench) == "20")
        try prove(25, from: 7, in: &bench)
    }

    @Test("four packets within a few seconds prove nothing, nor does one that comes again and again")
    func tooLittle() throws {
        var bench = try bench()
        #expect(try receive(20, 5000, in: &bench) == "20")
        _ = bench.wait(60)
        for counter in UInt32(7)..<17 {
            #expect(try bench.receive(sensor, SealedPackets.temperature(25, counter: counter)).isEmpty)
            _ = bench.wait(0.5)
        }
        var other = try self.bench()
        #expect(try receive(20, 5000, in: &other) == "20")
        _ = other.wait(60)
        for _ in 0..<100 { #expect(try receive(25, 7, in: &other) == nil) }
        #expect(other.gateway.drainNotices().allSatisfy { $0.kind != .restarted(counter: 7, last: 5000) })
    }

    @Test("a packet that was recorded before the battery was changed is not used, and the sensor goes on")
    func onePacket() throws {
        var bench = try changedBattery()
        for round in UInt32(0)..<20 {
            _ = bench.wait(3600)
            for counter in [UInt32(1002), 950, 1000] { #expect(try receive(20, counter, in: &bench) == nil) }
            #expect(try receive(26 + Int(round), 9 + round, in: &bench) == "\(26 + round)")
        }
    }

    @Test("a series that was recorded proves nothing, in whatever order and however slowly it comes")
    func recordedSeries() throws {
        var bench = try changedBattery()
        _ = bench.wait(3600)
        for counter in UInt32(900)...1002 { #expect(try receive(20, counter, in: &bench) == nil) }
        for counter in (UInt32(900)...1002).reversed() { #expect(try receive(20, counter, in: &bench) == nil) }
        // Those after the change, after the next change.
        _ = bench.gateway.drainNotices()
        try prove(30, from: 2, in: &bench)
        for counter in UInt32(5)...8 { #expect(try receive(25, counter, in: &bench) == nil) }
        #expect(bench.gateway.drainNotices().map(\.kind).filter { $0 != .restarted(counter: 5, last: 8) }.isEmpty)
        #expect(try receive(31, 6, in: &bench) == "31")
    }

    @Test("a recorded series between the packets of the sensor holds up neither the proof nor the sensor")
    func mixed() throws {
        var bench = try bench()
        for counter in UInt32(900)...1002 { _ = try receive(20, counter, in: &bench) }
        _ = bench.wait(300)
        for number in UInt32(0)..<60 {
            #expect(try receive(20, 900 + number, in: &bench) == nil)
            let degrees = 25 + Int(number % 2)
            #expect(try receive(degrees, 5 + number, in: &bench) == (number < 3 ? nil : "\(degrees)"))
        }
    }

    @Test("a packet that was recorded while the gateway did not listen shuts the sensor out for four packets only")
    func neverHeard() throws {
        var bench = try bench()
        for counter in UInt32(10)...40 { _ = try receive(25, counter, in: &bench) }
        _ = bench.wait(600)
        // From before a change of the battery, of which this gateway knows nothing.
        for _ in 0..<5 { #expect(try receive(20, 90_000, in: &bench) == nil) }
        #expect(try receive(26, 41, in: &bench) == "26")
        // It may be close, and then nothing distinguishes it.
        #expect(try receive(20, 200, in: &bench) == "20")
        _ = bench.wait(60)
        try prove(27, from: 42, in: &bench)
        for counter in [UInt32(200), 90_000, 90_001] { #expect(try receive(20, counter, in: &bench) == nil) }
        #expect(try receive(28, 46, in: &bench) == "28")
    }

    @Test("one packet of the old series that was never received does not keep the device from its proof")
    func highCounter() throws {
        for high in [UInt32(50_000), 200] {
            var bench = try bench()
            for counter in UInt32(900)...905 { _ = try receive(20, counter, in: &bench) }
            _ = bench.wait(60)
            #expect(try receive(25, 5, in: &bench) == nil)
            #expect(try receive(25, 6, in: &bench) == nil)
            #expect(try receive(33, high, in: &bench) == nil)
            try prove(26, from: 7, in: &bench)
        }
    }

    @Test("a series that was never received proves nothing while the sensor sends")
    func neverHeardSeries() throws {
        var bench = try changedBattery()
        for number in UInt32(0)..<50 {
            #expect(try receive(20, 2000 + number, in: &bench) == nil)
            #expect(try receive(26 + Int(number % 2), 9 + number, in: &bench) == "\(26 + number % 2)")
        }
    }

    @Test("a device that was out of reach for long, and counts on, is used: at once by its pace, or after the proof")
    func outOfReach() throws {
        var bench = try bench()
        for counter in UInt32(1)...20 { _ = try receive(20, counter, in: &bench) }
        _ = bench.wait(5 * 5000)
        #expect(try receive(21, 5020, in: &bench) == "21")
        _ = bench.wait(60)
        try prove(22, from: 900_000, in: &bench)
    }

    @Test("what was recorded stays recorded when the gateway is started again")
    func restart() throws {
        var bench = try startedAgain(try changedBattery())
        _ = bench.wait(3600)
        for counter in UInt32(900)...1002 { #expect(try receive(20, counter, in: &bench) == nil) }
        for counter in UInt32(5)...7 { #expect(try receive(25, counter, in: &bench) == nil) }
        #expect(try receive(26, 9, in: &bench) == "26")
        // The proof does not outlive the program, but the sensor goes on.
        _ = bench.wait(60)
        for counter in UInt32(2)...4 { #expect(try receive(27, counter, in: &bench) == nil) }
        bench = try startedAgain(bench)
        for counter in UInt32(2)...4 { #expect(try receive(27, counter, in: &bench) == nil) }
        #expect(try receive(27, 5, in: &bench) == nil)
        for counter in UInt32(6)...7 { #expect(try receive(27, counter, in: &bench) == nil) }
        #expect(try receive(27, 8, in: &bench) == "27")
    }

    @Test("without the counters, the packets that were received before are still recorded ones; without both, none is")
    func lostFiles() throws {
        let before = try changedBattery()
        var bench = try startedAgain(before, counters: false)
        for counter in UInt32(900)...1002 { #expect(try receive(20, counter, in: &bench) == nil) }
        #expect(try receive(26, 9, in: &bench) == "26")
        #expect(try receive(20, 1000, in: &bench) == nil)
        bench = try startedAgain(before, packets: false)
        #expect(try receive(20, 1002, in: &bench) == nil)
        #expect(try receive(26, 9, in: &bench) == "26")
        // Nothing is known: a recorded packet is used, but the sensor comes back.
        bench = try startedAgain(before, counters: false, packets: false)
        #expect(try receive(20, 1000, in: &bench) == "20")
        _ = bench.wait(60)
        for counter in UInt32(9)..<12 { #expect(try receive(26, counter, in: &bench) == nil) }
        #expect(try receive(26, 12, in: &bench) == "26")
    }

    @Test("files that are cut off anywhere leave what stands before")
    func truncated() throws {
        let before = try changedBattery()
        let text = ReplayCounter.text(of: before.gateway.replayCounters)
        for length in 0..<text.utf8.count {
            let (counters, isWhole) = ReplayCounter.counters(in: String(text.prefix(length)))
            // Only the head, with the end of its line, is a text without devices.
            #expect(counters.isEmpty && isWhole == (length == 27))
        }
        let octets = before.gateway.heardPackets
        for length in Array(0..<60) + Array(stride(from: 60, to: octets.count, by: 997)) {
            var bench = Bench(before.gateway.configuration)
            let isWhole = bench.gateway.restore(heardPackets: Array(octets.prefix(length)))
            // Only the head is a file without devices.
            #expect(isWhole == (length == 26))
            #expect(try receive(20, 1000, in: &bench) == "20")
        }
        var bench = Bench(before.gateway.configuration)
        let isWhole = bench.gateway.restore(heardPackets: octets + [1])
        #expect(!isWhole)
        #expect(try receive(20, 1000, in: &bench) == nil)
    }

    @Test("a text of an earlier version is read")
    func oldText() {
        let text = "jelling-gateway counters 1\n5448e68f80a5 3e8 12345678 9abcdef0\n"
        let found = ReplayCounter.counters(in: text)
        #expect(found.isWhole)
        #expect(
            found.counters == [
                ReplayCounter(
                    address: 0x5448_E68F_80A5, seal: SensorSeal(counter: 1000, code: 0x1234_5678), keyCheck: 0x9ABC_DEF0
                )
            ])
    }

    @Test("a packet that a second adapter receives later neither proves anything nor holds up the proof")
    func twoAdapters() throws {
        var bench = try bench()
        for counter in UInt32(900)...1002 { _ = try receive(20, counter, in: &bench) }
        _ = bench.wait(300)
        #expect(try receive(25, 5, in: &bench) == nil)
        #expect(try receive(25, 5, in: &bench, adapter: 1) == nil)
        #expect(try receive(25, 6, in: &bench, adapter: 1) == nil)
        #expect(try receive(25, 5, in: &bench) == nil)
        #expect(try receive(25, 6, in: &bench) == nil)
        #expect(try receive(25, 7, in: &bench) == nil)
        #expect(try receive(25, 5, in: &bench, adapter: 1) == nil)
        #expect(try receive(25, 8, in: &bench, adapter: 1) == "25")
        #expect(try receive(20, 1000, in: &bench, adapter: 1) == nil)
        #expect(try receive(26, 9, in: &bench) == "26")
    }

    @Test("after fifty other keys, the first key still has its packets")
    func manyKeys() throws {
        var bench = try changedBattery()
        for number in UInt8(1)...50 {
            var configuration = bench.gateway.configuration
            let key = [UInt8](repeating: number, count: 16)
            configuration.devices = [try device(key)]
            bench.gateway.configure(configuration)
            _ = bench.wait(1)
            let packet = SealedPackets.temperature(21, counter: 7, key: key)
            #expect(try temperature(bench.receive(sensor, packet) + bench.wait(5)) == "21")
            if number % 10 == 0 { bench = try startedAgain(bench) }
        }
        var configuration = bench.gateway.configuration
        configuration.devices = [try device()]
        bench.gateway.configure(configuration)
        for counter in UInt32(900)...1002 { #expect(try receive(20, counter, in: &bench) == nil) }
        #expect(try receive(26, 9, in: &bench) == "26")
        #expect(bench.gateway.replayCounters.count == 51)
        #expect(bench.gateway.heardPackets.count < 52 * 13_000)
    }

    @Test("a press that was recorded is no press after the battery was changed")
    func press() throws {
        var bench = try bench()
        let press = SealedPackets.press(counter: 1003)
        #expect(try #require(bench.receive(sensor, press).last).text.contains("press"))
        _ = bench.wait(300)
        try prove(25, from: 5, in: &bench)
        for _ in 0..<30 {
            _ = bench.wait(600)
            #expect(try bench.receive(sensor, press).isEmpty)
        }
        #expect(bench.wait(90).allSatisfy { !$0.text.contains("press") })
    }

    @Test("of thirty thousand packets, the last and the first are still recorded ones, and new ones are not")
    func manyPackets() throws {
        var bench = try bench()
        for counter in UInt32(0)..<30_000 {
            try bench.receive(sensor, SealedPackets.temperature(20, counter: counter))
            _ = bench.wait(10)
        }
        _ = bench.wait(600)
        var used: [UInt32] = []
        for counter in Array(UInt32(0)..<1000) + Array(UInt32(22_000)..<29_999) {
            if try !bench.receive(sensor, SealedPackets.temperature(20, counter: counter)).isEmpty {
                used.append(counter)
            }
            _ = bench.wait(10)
        }
        #expect(used == [])
        _ = bench.gateway.drainNotices()
        let counters = bench.gateway.counters.replayedReports
        var published = 0
        for counter in UInt32(1)...200 {
            let degrees = 25 + Int(counter % 2)
            let packet = SealedPackets.temperature(degrees, counter: counter)
            if try temperature(bench.receive(sensor, packet) + bench.wait(10)) == "\(degrees)" { published += 1 }
        }
        // A packet that is taken for a recorded one also costs the next, which then is no change.
        #expect(published >= 170)
        #expect(bench.gateway.counters.replayedReports - counters <= 20)
    }
}
