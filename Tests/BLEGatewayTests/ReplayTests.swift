import BLEGateway
import BLEHost
import BLEPackets
import Testing

@Suite("Packets that were recorded")
struct ReplayTests {
    let sensor = "54:48:E6:8F:80:A5"
    /// BTHome, encrypted: the value and the counter of the packet.
    static let degrees20At1000 = "0f16d2fc415b9396e80300007c46cd1b"
    static let degrees21At1001 = "0f16d2fc41e0d550e90300000a46972d"
    static let degrees22At1002 = "0f16d2fc41b14bcfea0300006cf06f19"
    static let pressAt1003 = "0e16d2fc416145eb0300004548ac5a"
    static let degrees23At1004 = "0f16d2fc415a2c2cec030000ce0cb7f2"
    static let degrees23At5 = "0f16d2fc416b83860500000008fc8ba8"
    static let degrees24At6 = "0f16d2fc41a734c306000000538fb0b1"
    static let degrees30InClear = "0716d2fc4002b80b"

    func bench() throws -> Bench {
        var configuration = GatewayConfiguration(name: "g")
        let address = try #require(DeviceAddress(sensor))
        var device = KnownDevice(address: address.value)
        device.key = Bench().octets("231d39c1d7cc1ab1aee224cd096db932")
        configuration.devices = [device]
        return Bench(configuration)
    }

    func temperature(_ messages: [GatewayMessage]) -> String? {
        guard let text = messages.last?.text, let range = text.firstRange(of: #""temperature":"#) else { return nil }
        return String(text[range.upperBound...].prefix { $0 != "," && $0 != "}" })
    }

    @Test("a counter that went back is told once, and its values are not used")
    func replayed() throws {
        var bench = try bench()
        #expect(try temperature(bench.receive(sensor, Self.degrees20At1000)) == "20")
        _ = bench.wait(20)
        #expect(try temperature(bench.receive(sensor, Self.degrees22At1002)) == "22")
        _ = bench.wait(20)
        for _ in 0..<3 {
            #expect(try bench.receive(sensor, Self.degrees21At1001).isEmpty)
            #expect(try bench.receive(sensor, Self.degrees20At1000).isEmpty)
        }
        #expect(bench.gateway.counters.replayedReports == 6)
        let notice = GatewayNotice(address: sensor, kind: .replayed(counter: 1001, last: 1002, isUsed: false))
        #expect(bench.gateway.drainNotices() == [notice])
        _ = bench.wait(600)
        #expect(try bench.receive(sensor, Self.degrees21At1001).isEmpty)
        #expect(bench.gateway.drainNotices() == [notice])
        #expect(try temperature(bench.receive(sensor, Self.degrees23At1004)) == "23")
    }

    @Test("a device that goes on sending keeps no recorded packet from being told")
    func replayedMeanwhile() throws {
        var bench = try bench()
        for packet in [Self.degrees20At1000, Self.degrees21At1001, Self.degrees22At1002] {
            for _ in 0..<12 {
                try bench.receive(sensor, packet)
                _ = bench.wait(1)
            }
        }
        // From before a change of the battery, and from half a minute ago; the device is not silent.
        #expect(try bench.receive(sensor, Self.degrees23At5).isEmpty)
        #expect(try bench.receive(sensor, Self.degrees20At1000).isEmpty)
        #expect(bench.gateway.counters.replayedReports == 2)
    }

    @Test("a packet that another adapter hears a moment later is no news, and not told")
    func late() throws {
        var bench = try bench()
        try bench.receive(sensor, Self.degrees20At1000)
        _ = bench.wait(2)
        try bench.receive(sensor, Self.degrees21At1001)
        _ = bench.wait(2)
        #expect(try bench.receive(sensor, Self.degrees20At1000, adapter: 1).isEmpty)
        #expect(bench.gateway.drainNotices().isEmpty)
        #expect(bench.gateway.counters.replayedReports == 0)
    }

    @Test("a press that is sent again is no second press, whatever was heard in between")
    func press() throws {
        var bench = try bench()
        try bench.receive(sensor, Self.degrees22At1002)
        _ = bench.wait(2)
        let press = try bench.receive(sensor, Self.pressAt1003)
        #expect(try #require(press.last).text.contains(#""button":"press""#))
        _ = bench.wait(30)
        // In clear, with the address of the device: to have the press be new again.
        #expect(try bench.receive(sensor, Self.degrees30InClear).isEmpty)
        #expect(try bench.receive(sensor, "020106").allSatisfy { !$0.text.contains("press") })
        #expect(try bench.receive(sensor, Self.pressAt1003).allSatisfy { !$0.text.contains("press") })
        #expect(bench.wait(90).allSatisfy { !$0.text.contains("press") })
        #expect(bench.gateway.counters.unprotectedReports == 1)
        #expect(bench.gateway.drainNotices().map(\.kind) == [.unprotected])
    }

    @Test("one packet with a low counter is not yet a battery that was changed")
    func low() throws {
        var bench = try bench()
        try bench.receive(sensor, Self.degrees22At1002)
        _ = bench.wait(60)
        #expect(try bench.receive(sensor, Self.degrees23At5).isEmpty)
        _ = bench.wait(5)
        #expect(try bench.receive(sensor, Self.degrees24At6).isEmpty)
        #expect(
            bench.gateway.drainNotices().map(\.kind) == [.replayed(counter: 5, last: 1002, isUsed: false)])
    }

    @Test("values in clear in another format do not replace those that were decrypted")
    func otherFormats() throws {
        var bench = try bench()
        #expect(try temperature(bench.receive(sensor, Self.degrees21At1001)) == "21")
        // ATC: 80 °C, 50 %, 100 %, 3 V. Eddystone TLM: 80 °C. SwitchBot's thermometer: 22.5 °C.
        let packets = [
            "10161a185448e68f80a5032032640bb801", "1116aafe20000bb850000000000100000010",
            "09163dfd540064059635",
        ]
        for (number, packet) in packets.enumerated() {
            _ = bench.wait(70)
            #expect(try temperature(bench.receive(sensor, packet)) == "21")
            #expect(bench.gateway.counters.unprotectedReports == UInt64(number + 1))
        }
        #expect(bench.gateway.drainNotices().map(\.kind) == [.unprotected])
        _ = bench.wait(2)
        #expect(try temperature(bench.receive(sensor, Self.degrees22At1002)) == "22")
    }

    @Test("values in clear are not used before the first encrypted packet either; beacons and other devices are")
    func clearFirst() throws {
        var bench = try bench()
        #expect(try bench.receive(sensor, Self.degrees30InClear).isEmpty)
        #expect(try temperature(bench.receive(sensor, "10161a185448e68f80a5032032640bb801")) == nil)
        #expect(bench.gateway.counters.unprotectedReports == 2)
        _ = bench.wait(70)
        let beacon = "1aff4c0002150102030405060708090a0b0c0d0e0f1000010002c5"
        #expect(try #require(bench.receive(sensor, beacon).last).text.contains(#""major":1"#))
        #expect(try temperature(bench.receive("54:48:E6:8F:80:A6", Self.degrees30InClear)) == "30")
        #expect(bench.gateway.counters.unprotectedReports == 2)
    }

    @Test("MiBeacon in clear has only values that the device does not encrypt")
    func mixedMiBeacon() throws {
        var bench = try bench()
        let before = try bench.receive(sensor, "1a1695fe5858322803a5808fe648545daa430cb6010000e1134412")
        #expect(temperature(before) == "21")
        _ = bench.wait(2)
        // Version 5, in clear: temperature 80 °C, then battery 50 %.
        let forged = try bench.receive(sensor, "131695fe505832280aa5808fe648540410022003")
        #expect(forged.allSatisfy { temperature([$0]) == "21" })
        _ = bench.wait(2)
        let battery = try bench.receive(sensor, "121695fe505832280ba5808fe648540a100132")
        #expect(try #require(battery.last).text.contains(#""battery":50"#))
        #expect(temperature(battery) == "21")
        #expect(bench.gateway.counters.unprotectedReports == 1)
    }

    @Test("a new key, or none, begins a new count")
    func otherKey() throws {
        var bench = try bench()
        try bench.receive(sensor, Self.degrees22At1002)
        var configuration = bench.gateway.configuration
        configuration.devices[0].key = nil
        bench.gateway.configure(configuration)
        _ = bench.wait(20)
        #expect(try temperature(bench.receive(sensor, Self.degrees30InClear)) == "30")
    }

    /// A gateway that was started again, with what the text of the counters says.
    func startedAgain(_ bench: Bench, _ text: String? = nil) throws -> Bench {
        var next = Bench(bench.gateway.configuration)
        let counters = ReplayCounter.counters(in: text ?? ReplayCounter.text(of: bench.gateway.replayCounters))
        next.gateway.restore(counters.counters, at: next.now)
        return next
    }

    @Test(
        "a packet that was recorded before the program was started again is refused; the same one and newer ones are not"
    )
    func restartedProgram() throws {
        var bench = try bench()
        #expect(bench.gateway.replayCounters.isEmpty)
        try bench.receive(sensor, Self.pressAt1003)
        var next = try startedAgain(bench)
        #expect(try next.receive(sensor, Self.degrees20At1000).isEmpty)
        #expect(next.gateway.drainNotices().map(\.kind) == [.replayed(counter: 1000, last: 1003, isUsed: false)])
        #expect(try next.receive(sensor, Self.pressAt1003).allSatisfy { !$0.text.contains("press") })
        _ = next.wait(2)
        #expect(try temperature(next.receive(sensor, Self.degrees23At1004)) == "23")
        #expect(next.gateway.replayCounters.map(\.seal.counter) == [1004])
    }

    @Test("a counter of another key, or of a device without one, is not that of the device")
    func counterOfOtherKey() throws {
        var bench = try bench()
        try bench.receive(sensor, Self.degrees22At1002)
        let text = ReplayCounter.text(of: bench.gateway.replayCounters)
        var other = try self.bench()
        var configuration = other.gateway.configuration
        configuration.devices[0].key = [UInt8](repeating: 7, count: 16)
        other.gateway.configure(configuration)
        var next = try startedAgain(other, text)
        let packet = SealedPackets.temperature(21, counter: 3, key: [UInt8](repeating: 7, count: 16))
        #expect(try temperature(next.receive(sensor, packet)) == "21")
        // It is kept for the time when the key comes back.
        #expect(next.gateway.replayCounters.map(\.seal.counter) == [3, 1002])
        configuration.devices = []
        other.gateway.configure(configuration)
        next = try startedAgain(other, text)
        #expect(try !next.receive(sensor, Self.degrees20At1000).isEmpty)
        #expect(next.gateway.replayCounters.map(\.seal.counter) == [1002])
    }

    @Test(
        "a text of counters that is damaged has no counters, and that is known",
        arguments: [
            "", "jelling-gateway counters 1", "jelling-gateway counters 3\n", "jelling-gateway counters 2\n1 2 3 4\n",
            "jelling-gateway counters 2\n1 2 3 x 4\n", "jelling-gateway counters 2\n1 2 3 - 4",
            "jelling-gateway counters 1\n1 2 3\n",
            "jelling-gateway counters 1\n1 2 3 4 5\n", "jelling-gateway counters 1\n1000000000000 2 3 4\n",
            "jelling-gateway counters 1\n1 100000000 3 4\n", "jelling-gateway counters 1\n1 2 3 x\n",
            "jelling-gateway counters 1\n1 2 3 4", "jelling-gateway counters 1\n1 2 3 -4\n",
        ])
    func damagedCounters(text: String) {
        let found = ReplayCounter.counters(in: text)
        #expect(found.counters.isEmpty && !found.isWhole)
    }

    @Test("a text of no counters")
    func noCounters() {
        let found = ReplayCounter.counters(in: ReplayCounter.text(of: []))
        #expect(found.counters.isEmpty && found.isWhole)
    }

    @Test("MiBeacon’s frame counter may begin again; what went back is told, and used")
    func frameCounter() throws {
        var bench = try bench()
        // Frame counter and the counter above it: 250 and 1, 3 and 1, 4 and 2, 240 and 1.
        #expect(try bench.receive(sensor, "1a1695fe58583228faa5808fe648546f74e872fc0100005e53de57").count == 1)
        _ = bench.wait(60)
        #expect(
            try temperature(bench.receive(sensor, "1a1695fe5858322803a5808fe648545daa430cb6010000e1134412")) == "21")
        _ = bench.wait(60)
        try bench.receive(sensor, "1a1695fe5858322804a5808fe64854268c422faf020000d5740f81")
        #expect(bench.gateway.drainNotices().isEmpty)
        _ = bench.wait(60)
        let back = try bench.receive(sensor, "1a1695fe58583228f0a5808fe64854d5ef25a37e01000094a71ebf")
        #expect(temperature(back) == "23")
        #expect(
            bench.gateway.drainNotices().map(\.kind) == [.replayed(counter: 0x1F0, last: 0x204, isUsed: true)])
    }

    @Test("a scan response after a press does not repeat it")
    func scanResponse() throws {
        var bench = Bench()
        let address = try #require(DeviceAddress(sensor))
        let press = bench.octets("0816D2FC4400023A01")
        func receive(_ response: [UInt8]) -> [GatewayMessage] {
            bench.gateway.receive(
                Sighting(
                    adapter: 0, address: address, rssi: -60, isConnectable: true, advertisement: press,
                    scanResponse: response),
                at: bench.now, unix: Bench.start)
            return bench.gateway.drainMessages()
        }
        #expect(receive([]).filter { $0.text.contains("press") }.count == 1)
        #expect(receive(bench.octets("0609424C553131")).allSatisfy { !$0.text.contains("press") })
        #expect(receive([]).allSatisfy { !$0.text.contains("press") })
        #expect(bench.wait(5).allSatisfy { !$0.text.contains("press") })
    }
}
