import BLEGateway
import BLEHost
import BLEJSON
import Testing

/// Events: numbered, kept within bounds, and each reader has those that it wants, in order.
@Suite struct EventTests {
    private func event(_ number: Int, _ device: String = "A") -> GatewayEvent {
        GatewayEvent(.device, device: device, ["n": .integer(number)])
    }

    private func text(_ octets: [UInt8]?) -> String { octets.map { String(decoding: $0, as: UTF8.self) } ?? "–" }

    @Test func `a reader gets what comes after it, with a number for each`() {
        var log = EventLog(run: "r")
        log.append(event(1))
        var reader = EventReader(EventFilter(), usesWebSocket: false, lastEventID: nil, log)
        #expect(!reader.isBehind(log))
        log.append(event(2))
        #expect(text(reader.next(log)) == "id: r-2\nevent: device\ndata: {\"n\":2}\n\n")
        var resumed = EventReader(EventFilter(), usesWebSocket: true, lastEventID: "r-1", log)
        #expect(
            resumed.next(log)
                == WebSocketFrame.text(Array("{\"id\":\"r-2\",\"event\":\"device\",\"data\":{\"n\":2}}".utf8)))
    }

    @Test(arguments: ["r-9", "s-1", "", "-", "r-", "r-x", "r-1-1", "r-18446744073709551615"])
    func `one that names an event that is not kept is told so, once`(id: String) {
        var log = EventLog(run: "r")
        log.append(event(1))
        var reader = EventReader(EventFilter(), usesWebSocket: false, lastEventID: id, log)
        #expect(text(reader.next(log)).contains("event: missed\n"))
        log.append(event(2))
        #expect(!text(reader.next(log)).contains("missed"))
    }

    @Test func `the log forgets the oldest, by number and by size, and a reader that is too slow is told`() {
        var log = EventLog(run: "r", countLimit: 10, octetLimit: 60)
        var slow = EventReader(EventFilter(), usesWebSocket: false, lastEventID: nil, log)
        for number in 0..<30 { log.append(event(number)) }
        #expect(log.next - log.first <= 10 && log.next == 31 && log[log.first] != nil && log[log.first - 1] == nil)
        #expect(slow.next(log) == nil)
        log.append(GatewayEvent(.device, data: [UInt8](repeating: 0x61, count: 500)))
        #expect(log.next - log.first == 1)
    }

    @Test func `at most about 64 kB come at once`() {
        var log = EventLog(run: "r")
        var reader = EventReader(EventFilter(), usesWebSocket: false, lastEventID: nil, log)
        for _ in 0..<20 { log.append(GatewayEvent(.device, data: [UInt8](repeating: 0x61, count: 10_000))) }
        let first = reader.next(log)?.count ?? 0
        #expect(first > 60_000 && first < 80_000 && reader.isBehind(log))
    }

    @Test func `filters know kinds and devices, and let events without a device pass`() throws {
        var filter = EventFilter()
        filter.devices = ["AA"]
        #expect(filter.accepts(event(1, "aa")) && !filter.accepts(event(1, "bb")) && filter.accepts(event(1, "")))
        filter.kinds = [.queue]
        #expect(!filter.accepts(event(1, "aa")))
        let read = try #require(EventFilter(Array(#"{"event": ["gatt"], "device": ["aa"]}"#.utf8)))
        #expect(read.kinds == [.gatt] && read.devices == ["AA"])
        for wrong in [
            "", "[]", #"{"event": "gatt"}"#, #"{"event": ["x"]}"#, #"{"x": []}"#, #"{"x": ["y"]}"#, #"{"device": [1]}"#,
        ] {
            #expect(wrong == #"{"x": []}"# || EventFilter(Array(wrong.utf8)) == nil, "\(wrong)")
        }
    }

    // MARK: Devices

    @Test
    func
        `devices are told whole when their content has changed, otherwise with their signal, and once when they are forgotten`()
        throws
    {
        var configuration = GatewayConfiguration(name: "g")
        configuration.memory = .seconds(100)
        var bench = Bench(configuration)
        try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2150))
        var (events, next) = bench.gateway.drainDeviceEvents(after: -1, limit: 64)
        #expect(events.count == 1 && next == nil && text(events[0].data).contains("\"temperature\":21.5"))
        #expect(bench.gateway.drainDeviceEvents(after: -1, limit: 64).events.isEmpty)
        _ = bench.wait(1)
        try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2150), rssi: -70)
        (events, next) = bench.gateway.drainDeviceEvents(after: -1, limit: 64)
        #expect(
            events.count == 1 && !text(events[0].data).contains("values")
                && text(events[0].data).contains("\"rssi\":-70"))
        _ = bench.wait(1)
        try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2200))
        #expect(
            text(bench.gateway.drainDeviceEvents(after: -1, limit: 64).events[0].data).contains("\"temperature\":22"))
        _ = bench.wait(200)
        (events, _) = bench.gateway.drainDeviceEvents(after: -1, limit: 64)
        #expect(events.map { text($0.data) } == [#"{"device":"A4:C1:38:00:00:01","gone":true}"#])
        #expect(bench.gateway.drainDeviceEvents(after: -1, limit: 64).events.isEmpty)
    }

    @Test func `devices come page by page, and those that the filter excludes never`() throws {
        var configuration = GatewayConfiguration(name: "g")
        var excluded = DeviceRule()
        excluded.address = 0xA5C1_3800_0001
        configuration.filter.deny = [excluded]
        var bench = Bench(configuration)
        for number in 0..<10 { try bench.receive("A4:C1:38:00:00:0\(number)", Bench.temperature(2000)) }
        try bench.receive("A5:C1:38:00:00:01", Bench.temperature(2000))
        var found: [String] = []
        var place: Int? = -1
        while let after = place {
            let (documents, next) = bench.gateway.deviceDocuments(after: after, limit: 3)
            found += documents.compactMap { if case .string(let text)? = $0["address"] { text } else { nil } }
            #expect(documents.count <= 3)
            place = next
        }
        #expect(found == (0..<10).map { "A4:C1:38:00:00:0\($0)" })
        #expect(bench.gateway.deviceDocument(of: "a4:c1:38:00:00:03")?["device"] == "A4:C1:38:00:00:03")
        #expect(bench.gateway.deviceDocument(of: "A5:C1:38:00:00:01") == nil)
        #expect(bench.gateway.isRandom(0xA4C1_3800_0003) == false && bench.gateway.isRandom(1) == nil)
    }

    @Test func `values are samples while documents have them, those of the settings first, within a bound`() throws {
        var configuration = GatewayConfiguration(name: "g")
        var device = KnownDevice(address: 0xA4C1_3800_0009)
        (device.name, device.location) = ("Cellar", "below")
        configuration.devices = [device]
        configuration.pace.valueLifetime = .seconds(60)
        var bench = Bench(configuration)
        for number in [9, 1, 2] {
            try bench.receive("A4:C1:38:00:00:0\(number)", Bench.temperature(Int16(2000 + number), packet: 1))
        }
        let (samples, omitted) = bench.gateway.sensorSamples(limit: 2, at: bench.now)
        #expect(omitted == 1 && samples.count == 2)
        #expect(samples[0].name == "Cellar" && samples[0].location == "below" && samples[0].value == 20.09)
        #expect(samples[0].quantity == "temperature" && samples[0].unit == "°C")
        _ = bench.wait(61)
        #expect(bench.gateway.sensorSamples(limit: 10, at: bench.now).samples.isEmpty)
    }
}
