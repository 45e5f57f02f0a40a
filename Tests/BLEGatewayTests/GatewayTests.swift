import BLEGateway
import BLEHost
import BLEPackets
import Testing

@Suite("Gateway")
struct GatewayTests {
    let sensor = "A4:C1:38:00:00:01"

    @Test("a new device is reported at once, with decoded values, names and raw data")
    func document() throws {
        var bench = Bench()
        let messages = try bench.receive(sensor, "0201060A16D2FC4002C40903BF13")
        try #require(messages.count == 1)
        #expect(messages[0].topic == "jelling/g/devices/A4:C1:38:00:00:01")
        #expect(!messages[0].isRetained)
        #expect(
            messages[0].text
                == #"{"time":"2026-11-22T09:24:09.123Z","gateway":"g","adapter":"hci0","address":"A4:C1:38:00:00:01","#
                + #""addressType":"public","rssi":-60,"rssiSmoothed":-60.0,"connectable":true,"#
                + #""services":[{"uuid":"FCD2","name":"Allterco Robotics ltd"}],"#
                + #""formats":[{"format":"BTHome v2","encryption":"none"}],"#
                + #""values":{"temperature":25,"humidity":50.55},"units":{"temperature":"°C","humidity":"%"},"#
                + #""advertisement":"0201060a16d2fc4002c40903bf13","sequence":1}"#)
    }

    @Test("a packet with hundreds of services makes a document with 64 of them")
    func manyServices() throws {
        var bench = Bench()
        // Structures of 126 services each, as an extended advertisement can have.
        var structures: [UInt8] = []
        for group: UInt8 in 0..<6 {
            structures += [0xFD, 0x03]
            for number: UInt8 in 0..<126 { structures += [number, 0x18 + group] }
        }
        let document = try #require(bench.receive(sensor, Bench.hex(structures)).last)
        #expect(document.text.split(separator: #"{"uuid":"#).count == 65)
        #expect(document.payload.count < 10_000)
    }

    @Test("a repeated packet is not reported until the refresh time has passed")
    func refresh() throws {
        var bench = Bench()
        #expect(try bench.receive(sensor, Bench.temperature(2000)).count == 1)
        for _ in 0..<59 {
            #expect(bench.wait(1).isEmpty)
            #expect(try bench.receive(sensor, Bench.temperature(2000)).isEmpty)
        }
        #expect(bench.wait(1).isEmpty)
        #expect(try bench.receive(sensor, Bench.temperature(2000)).count == 1)
    }

    @Test("changes within the interval go into one document with the last values")
    func interval() throws {
        var bench = Bench()
        try bench.receive(sensor, Bench.temperature(2000))
        for step: Int16 in 1...9 {
            #expect(bench.wait(0.1).isEmpty)
            #expect(try bench.receive(sensor, Bench.temperature(2000 + step)).isEmpty)
        }
        let messages = bench.wait(0.2)
        try #require(messages.count == 1)
        #expect(messages[0].text.contains(#""temperature":20.09"#))
        #expect(bench.wait(10).isEmpty)
    }

    @Test("a value must differ from the last document by its threshold")
    func threshold() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.pace.thresholds = ["temperature": 0.5]
        var bench = Bench(configuration)
        try bench.receive(sensor, Bench.temperature(2000))
        for hundredths: Int16 in [2020, 2049, 1951] {
            _ = bench.wait(2)
            #expect(try bench.receive(sensor, Bench.temperature(hundredths)).isEmpty)
        }
        #expect(try bench.receive(sensor, Bench.temperature(2050)).count == 1)
    }

    @Test("thresholds of a device count before those of all")
    func ownThresholds() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.pace.thresholds = ["temperature": 0.2]
        var device = KnownDevice(address: try #require(DeviceAddress(sensor)).value)
        device.thresholds = ["temperature": 1]
        configuration.devices = [device]
        var bench = Bench(configuration)
        for address in [sensor, "A4:C1:38:00:00:09"] { try bench.receive(address, Bench.temperature(2000)) }
        _ = bench.wait(2)
        #expect(try bench.receive(sensor, Bench.temperature(2050)).isEmpty)
        #expect(try bench.receive("A4:C1:38:00:00:09", Bench.temperature(2050)).count == 1)
        #expect(try bench.receive(sensor, Bench.temperature(2110)).count == 1)
    }

    @Test("a changed packet counter is not reported")
    func counter() throws {
        var bench = Bench()
        try bench.receive(sensor, Bench.temperature(2000, packet: 1))
        _ = bench.wait(2)
        #expect(try bench.receive(sensor, Bench.temperature(2000, packet: 2)).isEmpty)
    }

    @Test("a button press is reported at once, in one document")
    func button() throws {
        var bench = Bench()
        // Packet 1, button: press.
        try bench.receive(sensor, Bench.temperature(2000, packet: 1))
        let press = try bench.receive(sensor, "0816D2FC4400023A01")
        try #require(press.count == 1)
        #expect(press[0].text.contains(#""button":"press""#))
        #expect(press[0].text.contains(#""temperature":20"#))
        #expect(try bench.receive(sensor, "0816D2FC4400023A01").isEmpty)
        #expect(try bench.receive(sensor, "0816D2FC4400033A01").count == 1)
        _ = bench.wait(2)
        let later = try bench.receive(sensor, Bench.temperature(2100, packet: 4))
        try #require(later.count == 1)
        #expect(!later[0].text.contains("button"))
    }

    @Test("a sender of ever new events gets five documents at once and then two a second; the last event is not lost")
    func manyEvents() throws {
        var bench = Bench()
        var documents: [GatewayMessage] = []
        for step: UInt8 in 0..<100 {
            // A temperature that changes, and button: press.
            documents += try bench.receive(sensor, "0916d2fc4002\(Bench.hex([step]))013a01")
            documents += bench.wait(0.01)
        }
        #expect((6...10).contains(documents.count))
        // Packets without an event do not make the gateway forget the one that waits.
        #expect(try bench.receive(sensor, "0916d2fc400264013a01").isEmpty)
        documents = try bench.receive(sensor, Bench.temperature(1900))
        documents += bench.wait(2)
        #expect(documents.filter { $0.text.contains("press") }.count == 1)
        // Somebody who presses from time to time does not wait.
        for step: UInt8 in 0..<20 {
            _ = bench.wait(1)
            #expect(try bench.receive(sensor, "0816d2fc4400\(Bench.hex([step]))3a01").count == 1)
        }
    }

    @Test("allow and deny: address, prefix, name, company, service, decoder, strength")
    func filters() throws {
        func documents(_ change: (inout DeviceRule) -> Void, denied: Bool = false, rssi: Int8 = -60) throws -> Int {
            var rule = DeviceRule()
            change(&rule)
            var configuration = GatewayConfiguration(name: "g")
            if denied { configuration.filter.deny = [rule] } else { configuration.filter.allow = [rule] }
            var bench = Bench(configuration)
            // BTHome and the name ATC_1.
            return try bench.receive(sensor, "0609" + "4154435F31" + Bench.temperature(2000), rssi: rssi).count
        }
        #expect(try documents { $0.address = 0xA4C1_3800_0001 } == 1)
        #expect(try documents { $0.address = 0xA4C1_3800_0002 } == 0)
        #expect(try documents { $0.prefix = AddressPrefix("A4:C1:38") } == 1)
        #expect(try documents({ $0.prefix = AddressPrefix("A4:C1:38") }, denied: true) == 0)
        #expect(try documents { $0.name = NamePattern("ATC*") } == 1)
        #expect(try documents { $0.name = NamePattern("?TC_2") } == 0)
        #expect(try documents { $0.company = 0x004C } == 0)
        #expect(try documents { $0.service = BluetoothUUID(UInt16(0xFCD2)) } == 1)
        #expect(try documents { $0.decoder = "bthome v2" } == 1)
        #expect(try documents { $0.decoder = "iBeacon" } == 0)
        #expect(try documents({ $0.rssi = -70 }, rssi: -80) == 0)
        #expect(try documents({ $0.rssi = -90 }, rssi: -80) == 1)
    }

    @Test("names with stars are matched in bounded time", arguments: ["a*a*a*a*a*a*a*b"])
    func patterns(pattern: String) {
        #expect(!NamePattern(pattern).matches(String(repeating: "a", count: 2000)))
        #expect(NamePattern("*").matches(""))
        #expect(!NamePattern("?").matches(""))
    }

    @Test("spaces that fill the field of a name do not count")
    func paddedNames() {
        #expect(NamePattern("Lamp").matches("Lamp   ") && NamePattern("L?mp").matches("Lamp "))
        #expect(NamePattern("Lamp ").matches("Lamp ") && !NamePattern("Lamp ").matches("Lamp"))
        #expect(!NamePattern("Lamp").matches(" Lamp") && NamePattern("").matches("  "))
    }

    @Test("private addresses are dropped, or merged by the key of their identity")
    func identities() throws {
        // Core 5.4, Vol 3, Part H, D.7: IRK ec0234a3…, prand 708194, hash 0dfbaa.
        var identity = KnownIdentity(
            name: "phone",
            irk: [
                0xEC, 0x02, 0x34, 0xA3, 0x57, 0xC8, 0xAD, 0x05, 0x34, 0x10, 0x10, 0xA6, 0x0A, 0x39, 0x7D, 0x9B,
            ])
        identity.address = 0xC000_0000_0001
        var configuration = GatewayConfiguration(name: "g")
        configuration.identities = [identity]
        var device = KnownDevice(address: 0xC000_0000_0001)
        device.name = "Lena"
        configuration.devices = [device]
        configuration.filter.privateAddresses = .drop
        var bench = Bench(configuration)
        let messages = try bench.receive("70:81:94:0D:FB:AA/random", "020106")
        try #require(messages.count == 1)
        #expect(messages[0].topic == "jelling/g/devices/C0:00:00:00:00:01")
        #expect(messages[0].text.contains(#""identity":{"name":"phone","address":"C0:00:00:00:00:01"}"#))
        // The settings of the identity address.
        #expect(messages[0].text.contains(#""name":"Lena""#))
        #expect(try bench.receive("70:81:94:0D:FB:AB/random", "020106").isEmpty)
        #expect(bench.gateway.counters.ignoredReports == 1)
        #expect(bench.gateway.deviceCount == 1)
    }

    @Test("bonded devices are recognised by key and by identity address; a key that several have resolves nothing")
    func bonds() throws {
        let key = try #require(Key128(mostSignificantFirst: Bench().octets("ec0234a357c8ad05341010a60a397d9b")))
        var phone = Bond(identity: try #require(DeviceAddress("C0:00:00:00:00:01/random")), identityResolvingKey: key)
        phone.name = "phone"
        let plain = Bond(identity: try #require(DeviceAddress("A4:C1:38:00:00:01")))
        var configuration = GatewayConfiguration(name: "g")
        configuration.filter.privateAddresses = .drop
        configuration.addIdentities(of: [phone, plain])
        var bench = Bench(configuration)
        for address in ["70:81:94:0D:FB:AA/random", "C0:00:00:00:00:01/random"] {
            let messages = try bench.receive(address, "020106")
            try #require(messages.count == 1)
            #expect(messages[0].topic == "jelling/g/devices/C0:00:00:00:00:01")
            #expect(messages[0].text.contains(#""identity":{"name":"phone","address":"C0:00:00:00:00:01"}"#))
            _ = bench.wait(61)
        }
        #expect(bench.gateway.deviceCount == 1)
        let messages = try bench.receive(sensor, "0201060409414243")
        #expect(messages.first?.text.contains(#""identity":{"address":"A4:C1:38:00:00:01"},"name":"ABC""#) == true)

        configuration.identities = []
        var twin = phone
        twin.identity = try #require(DeviceAddress("C0:00:00:00:00:02/random"))
        configuration.addIdentities(of: [phone, twin])
        bench = Bench(configuration)
        #expect(try bench.receive("70:81:94:0D:FB:AA/random", "020106").isEmpty)

        var given = KnownIdentity(name: "Anna", irk: bench.octets("ec0234a357c8ad05341010a60a397d9b"))
        given.address = 0xC000_0000_0001
        configuration.identities = [given]
        configuration.addIdentities(of: [phone])
        #expect(configuration.identities == [given])
    }

    @Test("an address that the adapter resolved is an identity")
    func resolved() throws {
        var bench = Bench()
        let address = DeviceAddress(value: 0xC000_0000_0001, kind: .randomIdentity)
        bench.gateway.receive(
            Sighting(adapter: 0, address: address, rssi: -60, isConnectable: true, advertisement: []), at: bench.now,
            unix: Bench.start)
        let messages = bench.gateway.drainMessages()
        try #require(messages.count == 1)
        #expect(messages[0].topic == "jelling/g/devices/C0:00:00:00:00:01")
        #expect(messages[0].text.contains(#""addressType":"random","identity":{"address":"C0:00:00:00:00:01"}"#))
    }

    @Test("a device is reported with the adapter that receives it best")
    func adapters() throws {
        var bench = Bench()
        try bench.receive(sensor, Bench.temperature(2000), rssi: -80)
        _ = bench.wait(2)
        try bench.receive(sensor, Bench.temperature(2000), rssi: -50, adapter: 1)
        let messages = try bench.receive(sensor, Bench.temperature(2100), rssi: -81)
        try #require(messages.count == 1)
        #expect(messages[0].text.contains(#""adapter":"hci1""#))
        #expect(messages[0].text.contains(#""adapters":{"hci0":-80."#))
    }

    @Test("signal strength is smoothed by the time between packets")
    func smoothing() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.pace.rssiChange = 5
        var bench = Bench(configuration)
        try bench.receive(sensor, Bench.temperature(2000), rssi: -60)
        _ = bench.wait(5)
        // Half of the way after one time constant.
        let messages = try bench.receive(sensor, Bench.temperature(2000), rssi: -80)
        try #require(messages.count == 1)
        #expect(messages[0].text.contains(#""rssi":-80,"rssiSmoothed":-70.0"#))
    }

    @Test("known devices enter, and leave when they are silent; others are not watched")
    func presence() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.presence = PresenceRule()
        configuration.presence?.enter = -70
        configuration.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        var bench = Bench(configuration)
        func presence(_ messages: [GatewayMessage]) -> [String] {
            messages.filter { $0.kind == .presence }.map { "\($0.topic) \($0.text) \($0.isRetained)" }
        }
        #expect(presence(try bench.receive(sensor, "020106", rssi: -80)) == [])
        _ = bench.wait(1000)
        #expect(
            presence(try bench.receive(sensor, "020106", rssi: -50)) == [
                "jelling/g/presence/A4:C1:38:00:00:01 home true"
            ])
        _ = try bench.receive("A4:C1:38:00:00:02", "020106")
        #expect(presence(bench.wait(59)) == [])
        #expect(presence(bench.wait(3)) == ["jelling/g/presence/A4:C1:38:00:00:01 not_home true"])
        #expect(presence(bench.wait(1000)) == [])
    }

    @Test("a crowd of changing addresses does not fill memory, and silent devices are forgotten")
    func bounds() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.deviceLimit = 100
        configuration.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        var bench = Bench(configuration)
        try bench.receive(sensor, "020106")
        for number in 0..<1000 {
            let digits = String(0xC0_0000 + number, radix: 16, uppercase: true)
            let pairs = stride(from: 0, to: 6, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
            try bench.receive("C0:00:00:" + pairs.joined(separator: ":") + "/random", "020106")
            #expect(bench.gateway.deviceCount <= 100)
        }
        #expect(bench.gateway.counters.evictedDevices >= 900)
        // The one that was named stayed.
        _ = bench.wait(2)
        #expect(try bench.receive(sensor, "020104").first?.text.contains(#""sequence":2"#) == true)
        _ = bench.wait(3700)
        #expect(bench.gateway.deviceCount == 0)
        #expect(bench.gateway.nextDeadline == nil)
    }

    @Test("new settings apply from the next packet on, and the sequence continues")
    func configure() throws {
        var bench = Bench()
        try bench.receive(sensor, Bench.temperature(2000))
        var configuration = bench.gateway.configuration
        configuration.topics.device = try TopicTemplate("sensors/{id}", for: .device)
        configuration.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        configuration.devices[0].name = "Cellar"
        bench.gateway.configure(configuration)
        _ = bench.wait(2)
        let messages = try bench.receive(sensor, Bench.temperature(2000))
        try #require(messages.count == 1)
        #expect(messages[0].topic == "sensors/a4c138000001")
        #expect(messages[0].text.contains(#""name":"Cellar""#))
        #expect(messages[0].text.contains(#""sequence":2"#))
    }

    @Test("topics: wildcards, unknown names and topics that all devices share are refused")
    func topics() throws {
        func problem(_ text: String) -> TopicTemplate.Problem? {
            do throws(TopicTemplate.Problem) { _ = try TopicTemplate(text, for: .device) } catch { return error }
            return nil
        }
        #expect(problem("a/+/{address}") == .wildcard)
        #expect(problem("a/#") == .wildcard)
        #expect(problem("a/{adress}") == .unknownPlaceholder("adress"))
        #expect(problem("a/{gateway") == .unclosedBrace)
        #expect(problem("a/{gateway}") == .notDistinct)
        #expect(problem("") == .empty)
        #expect(problem("{id}") == nil)
        // What a device calls itself cannot lead out of its topic.
        var configuration = GatewayConfiguration(name: "g")
        configuration.topics.device = try TopicTemplate("{id}/{name}", for: .device)
        var bench = Bench(configuration)
        let messages = try bench.receive(sensor, "0609" + "612F2B2362")
        #expect(messages.first?.topic == "a4c138000001/a___b")
    }

    @Test(
        "what a device calls itself adds no level, no wildcard and no topic of the broker's",
        // Wildcard and slash with a combining accent, which are other characters of Swift; a noncharacter; $SYS; NUL.
        arguments: [
            ("2BCC812FCC8123CC81", "_\u{301}_\u{301}_\u{301}"), ("61EFBFBF62", "a_b"), ("2453595324", "_SYS$"),
            ("6100", "a"),
            ("610062", "a_b"),
        ])
    func injection(name: String, first: String) throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.topics.device = try TopicTemplate("{name}/{id}", for: .device)
        var bench = Bench(configuration)
        let octets = bench.octets(name)
        let messages = try bench.receive(sensor, Bench.hex([UInt8(octets.count + 1), 0x09] + octets))
        #expect(messages.first.map { Array($0.topic.utf8) } == Array("\(first)/a4c138000001".utf8))
        for wildcard in ["a/+\u{301}/{id}", "a/#\u{301}/{id}", "a\u{FFFE}/{id}"] {
            #expect(throws: TopicTemplate.Problem.wildcard) { try TopicTemplate(wildcard, for: .device) }
        }
    }

    @Test("devices that were forgotten while their documents waited leave nothing behind")
    func forgottenWhileWaiting() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.deviceLimit = 16
        configuration.pace.interval = .seconds(5)
        var bench = Bench(configuration)
        var documents = 0
        for round in 0..<200 {
            let address = "A4:C1:38:00:00:\(Bench.hex([UInt8(round)]).uppercased())"
            documents += try bench.receive(address, Bench.temperature(2000)).count
            #expect(try bench.receive(address, Bench.temperature(2100)).isEmpty)
            documents += bench.wait(0.01).count
        }
        // The last ones still wait, each once.
        #expect(documents == 200)
        #expect((1...16).contains(bench.wait(10).count))
        #expect(bench.wait(10).isEmpty)
    }
}
