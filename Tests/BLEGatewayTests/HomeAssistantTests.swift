import BLEGateway
import Testing

@Suite("Discovery for Home Assistant")
struct HomeAssistantTests {
    @Test("each value is announced once, before the first document, and again when Home Assistant starts")
    func announces() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        var bench = Bench(configuration)
        let messages = try bench.receive("A4:C1:38:00:00:01", "0201060A16D2FC4002C40903BF13")
        #expect(messages.map(\.kind) == [.discovery, .discovery, .document])
        #expect(messages[0].isRetained)
        #expect(messages[0].topic == "homeassistant/sensor/jelling_g_a4c138000001/temperature/config")
        #expect(
            messages[0].text
                == #"{"name":"Temperature","unique_id":"jelling_g_a4c138000001_temperature","#
                + #""state_topic":"jelling/g/devices/A4:C1:38:00:00:01","#
                + #""value_template":"{% if 'temperature' in value_json['values'] %}"#
                + #"{{ value_json['values']['temperature'] }}{% endif %}","#
                + #""device_class":"temperature","unit_of_measurement":"°C","state_class":"measurement","#
                + #""expire_after":300,"availability_topic":"jelling/g/status","#
                + #""device":{"identifiers":["jelling_a4c138000001"],"name":"A4:C1:38:00:00:01","#
                + #""connections":[["bluetooth","A4:C1:38:00:00:01"]]},"#
                + #""origin":{"name":"jelling-gateway","sw_version":"0.3.0"}}"#)
        _ = bench.wait(2)
        #expect(try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2000)).map(\.kind) == [.document])
        bench.gateway.announceAgain(at: .zero)
        #expect(
            try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2000)).map(\.kind)
                == [.discovery, .discovery, .document])
    }

    @Test("everything is announced again at most every 10 s, because anyone at the broker can ask for it")
    func announcesAgainRarely() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        var bench = Bench(configuration)
        func announcements() throws -> Int {
            bench.gateway.announceAgain(at: bench.now)
            return try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2000)).filter { $0.kind == .discovery }
                .count
        }
        #expect(try announcements() == 1)
        for _ in 0..<9 {
            _ = bench.wait(1)
            #expect(try announcements() == 0)
        }
        _ = bench.wait(1)
        #expect(try announcements() == 1)
    }

    @Test("a sender of ever new addresses cannot announce devices without end; devices with settings are announced")
    func limit() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        configuration.homeAssistant?.deviceLimit = 10
        configuration.devices = [KnownDevice(address: 0xA4C1_38FF_0001)]
        var bench = Bench(configuration)
        var kinds: [GatewayMessage.Kind] = []
        for number in 0..<100 {
            let address = "A4:C1:38:00:00:\(Bench.hex([UInt8(number)]).uppercased())"
            kinds += try bench.receive(address, Bench.temperature(2000)).map(\.kind)
        }
        #expect(kinds.filter { $0 == .discovery }.count == 10)
        #expect(kinds.filter { $0 == .document }.count == 100)
        #expect(bench.gateway.counters.unannouncedDocuments == 90)
        #expect(
            try bench.receive("A4:C1:38:FF:00:01", Bench.temperature(2000)).map(\.kind) == [.discovery, .document])
        // Those that are known are announced again.
        _ = bench.wait(20)
        bench.gateway.announceAgain(at: bench.now)
        #expect(
            try bench.receive("A4:C1:38:00:00:05", Bench.temperature(2000)).map(\.kind) == [.discovery, .document])
        #expect(try bench.receive("A4:C1:38:00:00:50", Bench.temperature(2000)).map(\.kind) == [.document])
    }

    @Test("a sender that numbers its values ever differently has at most 64 of them, also for Home Assistant")
    func values() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        configuration.pace.interval = .zero
        // So that the device is forgotten in between.
        configuration.memory = .seconds(5)
        var bench = Bench(configuration)
        var announced: Set<String> = []
        for round: UInt8 in 0..<200 {
            // 13 objects of one octet: binary sensors have the numbers 0x0F to 0x2D.
            let objects = [UInt8](repeating: 0x0F + round % 31, count: 13).flatMap { [$0, round & 1] }
            let packet = Bench.hex([UInt8(objects.count + 4), 0x16, 0xD2, 0xFC, 0x40] + objects)
            for message in try bench.receive("A4:C1:38:00:00:01", packet) {
                if message.kind == .discovery {
                    announced.insert(message.topic)
                    continue
                }
                let start = try #require(message.text.firstRange(of: #""values":{"#)).upperBound
                let values = message.text[start...].prefix { $0 != "}" }.split(separator: ",")
                // Those of the packet are among them.
                #expect((13...64).contains(values.count))
            }
            _ = bench.wait(round % 20 == 0 ? 10 : 0.1)
        }
        #expect(announced.count == 64)
        #expect(bench.gateway.counters.droppedValues > 100)
    }

    @Test("devices that change their addresses are not announced")
    func privateAddresses() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        var bench = Bench(configuration)
        #expect(try bench.receive("41:C1:38:00:00:01/random", Bench.temperature(2000)).map(\.kind) == [.document])
    }
}

@Suite("Topics that Home Assistant knows")
struct AnnouncedTopicsTests {
    func bench(device: String = "jelling/{id}/{adapter}/{name}") throws -> Bench {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        configuration.topics.device = try TopicTemplate(device, for: .device)
        configuration.topics.presence = try TopicTemplate("presence/{name}/{id}", for: .presence)
        configuration.pace.interval = .zero
        configuration.smoothing.timeConstant = .zero
        return Bench(configuration)
    }

    /// The topic in the last announcement of the temperature.
    func announced(_ messages: [GatewayMessage]) -> String? {
        guard let text = messages.last(where: { $0.kind == .discovery && $0.topic.contains("temperature") })?.text,
            let start = text.firstRange(of: #""state_topic":""#)
        else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test("the topic of documents is always the one that was announced last, whatever adapter and name the device has")
    func agreement() throws {
        var bench = try bench()
        var known: String?
        var topics: Set<String> = []
        for number in 0..<60 {
            let name = Bench.hex([0x02, 0x09, UInt8(ascii: "a") + UInt8(number / 20)])
            let near = number / 4 % 2
            for adapter in 0..<2 {
                let value = Bench.temperature(Int16(2000 + 2 * number + adapter))
                let packet = value + (number < 10 ? "" : name)
                let messages = try bench.receive(
                    "A4:C1:38:00:00:01", packet, rssi: adapter == near ? -50 : -90, adapter: adapter)
                for message in messages where message.kind != .presence {
                    if message.kind == .discovery { known = announced([message]) ?? known }
                    guard message.kind == .document else { continue }
                    #expect(message.topic == known)
                    topics.insert(message.topic)
                }
            }
            _ = bench.wait(3)
        }
        #expect(topics.count >= 4)
        #expect(topics.contains("jelling/a4c138000001/hci1/c"))
    }

    @Test("the topic changes at most every ten seconds, and not with an event, which Home Assistant would miss")
    func pause() throws {
        var bench = try bench(device: "{name}/{id}")
        func name(_ letter: UInt8) -> String { Bench.hex([0x02, 0x09, letter]) }
        let first = try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2000))
        #expect(announced(first) == "A4:C1:38:00:00:01/a4c138000001")
        _ = bench.wait(5)
        let early = try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2001) + name(0x61))
        #expect(early.map(\.topic) == ["A4:C1:38:00:00:01/a4c138000001"])
        _ = bench.wait(6)
        // A press.
        let press = try bench.receive("A4:C1:38:00:00:01", "0816d2fc4000013a01" + name(0x61))
        #expect(press.last?.topic == "A4:C1:38:00:00:01/a4c138000001")
        _ = bench.wait(2)
        let late = try bench.receive("A4:C1:38:00:00:01", Bench.temperature(2002) + name(0x61))
        #expect(announced(late) == "a/a4c138000001")
        #expect(late.last?.topic == "a/a4c138000001")
    }

    @Test("a topic that cannot work is refused", arguments: ["$SYS/{id}", "$a/{id}/{address}"])
    func ofBroker(text: String) {
        #expect(throws: TopicTemplate.Problem.ofBroker) { try TopicTemplate(text, for: .device) }
    }

    @Test("a placeholder without a value in its topic is refused")
    func meaningless() {
        #expect(throws: TopicTemplate.Problem.meaningless(.address)) { try TopicTemplate("a/{address}", for: .gateway) }
        #expect(throws: TopicTemplate.Problem.meaningless(.adapter)) {
            try TopicTemplate("a/{id}/{adapter}", for: .presence)
        }
    }
}
