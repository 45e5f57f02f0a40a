import BLEGateway
import BLEHost
import BLEPackets
import Testing

/// A broker that keeps what is retained, and accepts everything.
private struct Retainer {
    var topics: [String: String] = [:]
    /// The empty messages, by their topics.
    var removals: [String: Int] = [:]

    mutating func take(_ messages: [GatewayMessage], _ bench: inout Bench) {
        for message in messages where message.isRetained {
            topics[message.topic] = message.payload.isEmpty ? nil : message.text
            if message.payload.isEmpty { removals[message.topic, default: 0] += 1 }
            bench.gateway.settled(topic: message.topic, payload: message.payload, .accepted)
        }
    }

    /// Everything that the gateway has to state.
    mutating func reconcile(_ bench: inout Bench) {
        while true {
            let statements = bench.gateway.nextStatements(limit: 7) { _ in true }
            if statements.isEmpty { return }
            take(statements, &bench)
        }
    }
}

@Suite("What is retained at the broker")
struct RetainedTests {
    private static let phone = "C0:00:00:00:00:01"
    private static let sensor = "A4:C1:38:00:00:01"

    private func configuration(presence timeout: Int32? = 60) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(name: "g")
        if let timeout {
            configuration.presence = PresenceRule()
            configuration.presence?.timeout = .seconds(timeout)
        }
        configuration.devices = [KnownDevice(address: 0xC000_0000_0001)]
        return configuration
    }

    private func announcing() -> GatewayConfiguration {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        return configuration
    }

    /// The same gateway in its next run, some seconds later.
    private func restarted(
        _ old: Bench, _ configuration: GatewayConfiguration? = nil, after seconds: Int64 = 5
    ) -> Bench {
        var next = Bench(configuration ?? old.gateway.configuration)
        // The engine's clock begins anew.
        next.gateway.restore(
            old.gateway.retainedRecord, at: next.now,
            unix: Bench.start + old.now.microseconds + seconds * 1_000_000)
        return next
    }

    private func address(_ number: Int) -> String {
        "A4:C1:38:00:\(Bench.hex([UInt8(number >> 8)]).uppercased()):\(Bench.hex([UInt8(number & 255)]).uppercased())"
    }

    @Test("each device of the settings is stated: absent after the time-out, though it was never heard")
    func statesAbsence() {
        var configuration = configuration()
        var identity = KnownIdentity(name: "watch", irk: [UInt8](repeating: 1, count: 16))
        configuration.identities = [identity]
        identity.name = "keys"
        identity.address = 0xC000_0000_0002
        configuration.identities.append(identity)
        var bench = Bench(configuration)
        #expect(bench.wait(59).isEmpty)
        let messages = bench.wait(3)
        #expect(
            messages.map(\.topic) == [
                "jelling/g/presence/watch", "jelling/g/presence/C0:00:00:00:00:02", "jelling/g/presence/\(Self.phone)",
            ])
        #expect(messages.allSatisfy { $0.text == "not_home" && $0.isRetained })
        #expect(bench.wait(600).isEmpty)
    }

    @Test("a time-out of three hours ends though the device is forgotten after one")
    func longTimeout() throws {
        var bench = Bench(configuration(presence: 3 * 3600))
        #expect(try bench.receive(Self.phone, "020106").first?.text == "home")
        #expect(bench.wait(3 * 3600 - 5).filter { $0.kind == .presence }.isEmpty)
        #expect(bench.wait(10).map(\.text) == ["not_home"])
    }

    @Test("a retained ‘home’ ends after a restart if the device is not heard, and stays if it is")
    func restartedPresence() throws {
        var broker = Retainer()
        var bench = Bench(configuration())
        broker.take(try bench.receive(Self.phone, "020106"), &bench)
        #expect(broker.topics["jelling/g/presence/\(Self.phone)"] == "home")

        var absent = restarted(bench)
        #expect(absent.wait(59).isEmpty)
        broker.take(absent.wait(5), &absent)
        #expect(broker.topics["jelling/g/presence/\(Self.phone)"] == "not_home")

        var present = restarted(bench)
        _ = present.wait(30)
        // It was home all the time.
        #expect(try present.receive(Self.phone, "020106").filter { $0.kind == .presence }.isEmpty)
        #expect(present.wait(58).isEmpty)
        #expect(present.wait(5).map(\.text) == ["not_home"])
    }

    @Test("devices that the settings no longer name lose their presence; a renamed identity moves")
    func reload() throws {
        var settings = configuration()
        var identity = KnownIdentity(name: "phone", irk: [UInt8](repeating: 1, count: 16))
        settings.identities = [identity]
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.phone, "020106"), &bench)
        broker.take(bench.wait(70), &bench)
        #expect(broker.topics.keys.sorted() == ["jelling/g/presence/\(Self.phone)", "jelling/g/presence/phone"])
        identity.name = "mobile"
        settings.identities = [identity]
        settings.devices = []
        bench.gateway.configure(settings)
        broker.reconcile(&bench)
        #expect(broker.topics.isEmpty)
        broker.take(bench.wait(70), &bench)
        #expect(broker.topics == ["jelling/g/presence/mobile": "not_home"])
        #expect(broker.removals == ["jelling/g/presence/\(Self.phone)": 1, "jelling/g/presence/phone": 1])
    }

    @Test("identities that change with a reload do not make a device present again")
    func identitiesChange() throws {
        var settings = configuration()
        var bench = Bench(settings)
        #expect(try bench.receive(Self.phone, "020106").contains { $0.text == "home" })
        _ = bench.wait(50)
        settings.identities = [KnownIdentity(name: "x", irk: [UInt8](repeating: 2, count: 16))]
        bench.gateway.configure(settings)
        #expect(bench.wait(8).isEmpty)
        #expect(bench.wait(5).map(\.text) == ["not_home"])
    }

    @Test("a broker that lost everything gets it again with the next session, devices of the settings first")
    func newSession() throws {
        var settings = configuration()
        settings.homeAssistant = HomeAssistantSettings()
        settings.retainsDocuments = true
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
        broker.take(try bench.receive(Self.phone, Bench.temperature(2100)), &bench)
        broker.reconcile(&bench)
        let before = broker.topics
        #expect(before.count == 6)
        broker.topics = [:]
        #expect(bench.gateway.nextStatements(limit: 100) { _ in true }.isEmpty)
        bench.gateway.sessionBegan(at: bench.now)
        let statements = bench.gateway.nextStatements(limit: 100) { _ in true }
        #expect(statements.prefix(4).allSatisfy { $0.topic.contains("c00000000001") || $0.topic.contains(Self.phone) })
        broker.take(statements, &bench)
        #expect(broker.topics == before)
        // Once for each session.
        #expect(bench.gateway.nextStatements(limit: 100) { _ in true }.isEmpty)
    }

    @Test("a message that was lost or refused for the moment is stated again; one that is on its way is not")
    func confirmation() throws {
        var bench = Bench(configuration())
        let home = try #require(try bench.receive(Self.phone, "020106").first { $0.kind == .presence })
        #expect(bench.gateway.nextStatements(limit: 10) { $0 != home.topic }.isEmpty)
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true } == [home])
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true }.isEmpty)
        bench.gateway.settled(topic: home.topic, payload: home.payload, .postponed)
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true } == [home])
        // An answer to an older message says nothing.
        bench.gateway.settled(topic: home.topic, payload: Array("not_home".utf8), .accepted)
        bench.gateway.settled(topic: home.topic, payload: home.payload, .refused)
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true }.isEmpty)
        // Some brokers end the session with each refusal: not again for ten minutes, then twenty.
        for minutes in [10.0, 20, 40] {
            bench.gateway.sessionBegan(at: bench.now)
            #expect(bench.gateway.nextStatements(limit: 10) { _ in true }.isEmpty)
            bench.now = bench.now.advanced(by: .seconds(Int32(minutes) * 60))
            bench.gateway.sessionBegan(at: bench.now)
            #expect(bench.gateway.nextStatements(limit: 10) { _ in true } == [home])
            bench.gateway.settled(topic: home.topic, payload: home.payload, .refused)
        }
    }

    @Test("a button that was pressed is not pressed again by a new session")
    func events() throws {
        var settings = GatewayConfiguration(name: "g")
        settings.retainsDocuments = true
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.sensor, "0516D2FC403A01".replacing("0516", with: "0616")), &bench)
        #expect(broker.topics.count == 1)
        bench.gateway.sessionBegan(at: bench.now)
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true }.isEmpty)
    }

    @Test("a document of a stranger goes when the device is forgotten, that of a device of the settings stays")
    func forgotten() throws {
        var settings = configuration(presence: nil)
        settings.retainsDocuments = true
        settings.memory = .seconds(100)
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
        broker.take(try bench.receive(Self.phone, Bench.temperature(2000)), &bench)
        _ = bench.wait(300)
        broker.reconcile(&bench)
        #expect(broker.topics.keys.sorted() == ["jelling/g/devices/\(Self.phone)"])
        #expect(broker.removals == ["jelling/g/devices/\(Self.sensor)": 1])
        // It is back.
        broker.take(try bench.receive(Self.sensor, Bench.temperature(2100)), &bench)
        #expect(broker.topics.count == 2)
        // The gateway ends before it forgets it: the next run does.
        var next = restarted(bench, after: 1000)
        _ = next.wait(120)
        broker.reconcile(&next)
        #expect(broker.topics.keys.sorted() == ["jelling/g/devices/\(Self.phone)"])
        #expect(broker.removals["jelling/g/devices/\(Self.sensor)"] == 2)
    }

    @Test("other templates, another prefix, another name, and no Home Assistant: what was there before is removed")
    func oldTopics() throws {
        var settings = announcing()
        settings.retainsDocuments = true
        settings.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        settings.presence = PresenceRule()
        var bench = Bench(settings)
        var broker = Retainer()
        func topics(_ bench: inout Bench, _ settings: GatewayConfiguration) throws -> [String] {
            bench.gateway.configure(settings)
            broker.reconcile(&bench)
            broker.take(bench.wait(2), &bench)
            broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
            broker.reconcile(&bench)
            return broker.topics.keys.sorted()
        }
        let tracker = "device_tracker/jelling_g_a4c138000001/presence/config"
        let entity = "sensor/jelling_g_a4c138000001/temperature/config"
        #expect(
            try topics(&bench, settings) == [
                "homeassistant/\(tracker)", "homeassistant/\(entity)", "jelling/g/devices/\(Self.sensor)",
                "jelling/g/presence/\(Self.sensor)",
            ])
        settings.homeAssistant?.prefix = "ha"
        settings.topics.device = try TopicTemplate("d/{id}", for: .device)
        settings.topics.presence = try TopicTemplate("p/{id}", for: .presence)
        #expect(
            try topics(&bench, settings) == [
                "d/a4c138000001", "ha/\(tracker)", "ha/\(entity)", "p/a4c138000001",
            ])
        settings.homeAssistant = nil
        settings.presence = nil
        #expect(try topics(&bench, settings) == ["d/a4c138000001"])
        settings.retainsDocuments = false
        #expect(try topics(&bench, settings).isEmpty)
        #expect(broker.removals.values.allSatisfy { $0 == 1 })
        settings.topics.status = try TopicTemplate("s", for: .gateway)
        _ = try topics(&bench, settings)
        #expect(broker.removals["jelling/g/status"] == 1)
    }

    @Test("what changed while the gateway was not running is removed at the next start")
    func changedWhileAway() throws {
        var settings = announcing()
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
        settings.homeAssistant?.prefix = "ha"
        var next = restarted(bench, settings)
        broker.reconcile(&next)
        #expect(broker.topics.isEmpty)
        #expect(broker.removals.count == 1)
        // Acknowledged: not once more in the run after that.
        var last = restarted(next)
        broker.reconcile(&last)
        #expect(broker.removals.values.allSatisfy { $0 == 1 })
    }

    @Test("a removal that was not acknowledged is made again in the next run")
    func removalIsKept() throws {
        var settings = announcing()
        var bench = Bench(settings)
        var broker = Retainer()
        broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
        settings.homeAssistant = nil
        bench.gateway.configure(settings)
        #expect(bench.gateway.nextStatements(limit: 10) { _ in true }.count == 1)
        var next = restarted(bench)
        broker.reconcile(&next)
        #expect(broker.topics.isEmpty && next.gateway.withdrawnCount == 0)
    }

    @Test("the limit of announced devices counts over restarts; who was never heard again makes room")
    func invented() throws {
        var settings = announcing()
        settings.homeAssistant?.deviceLimit = 16
        var bench = Bench(settings)
        var broker = Retainer()
        for number in 0..<16 { broker.take(try bench.receive(address(number), Bench.temperature(2000)), &bench) }
        _ = bench.wait(10)
        bench = restarted(bench)
        broker.take(try bench.receive(address(100), Bench.temperature(2000)), &bench)
        #expect(broker.topics.count == 16)
        #expect(bench.gateway.counters.unannouncedDocuments == 1)
        for round in 0..<20 {
            _ = bench.wait(60)
            for number in 100..<104 {
                broker.take(try bench.receive(address(number), Bench.temperature(Int16(round))), &bench)
            }
            broker.reconcile(&bench)
        }
        for number in 100..<104 {
            #expect(broker.topics.keys.contains { $0.contains("a4c13800006\(number - 100 + 4)") })
        }
        #expect(broker.topics.count <= 16)
    }

    @Test("a sensor that is known for long keeps its place, although it is silent for days")
    func knownForLong() throws {
        var settings = announcing()
        settings.homeAssistant?.deviceLimit = 2
        var bench = Bench(settings)
        var broker = Retainer()
        for _ in 0..<30 {
            broker.take(try bench.receive(Self.sensor, Bench.temperature(2000)), &bench)
            broker.take(bench.wait(3600), &bench)
        }
        let before = broker.topics
        #expect(before.count == 1)
        for number in 0..<50 {
            _ = bench.wait(3600)
            broker.take(try bench.receive(address(1000 + number), Bench.temperature(2000)), &bench)
            broker.reconcile(&bench)
        }
        #expect(broker.topics.count == 2)
        #expect(broker.topics.merging(before) { first, _ in first } == broker.topics)
        // A month of silence ends it.
        _ = bench.wait(31 * 86_400)
        broker.reconcile(&bench)
        #expect(broker.topics.isEmpty)
    }

    @Test("a lower limit removes strangers, and none of the settings")
    func lowerLimit() throws {
        var settings = announcing()
        settings.devices = [KnownDevice(address: 0xA4C1_3800_0001)]
        var bench = Bench(settings)
        var broker = Retainer()
        for number in 0..<5 { broker.take(try bench.receive(address(number), Bench.temperature(2000)), &bench) }
        settings.homeAssistant?.deviceLimit = 1
        bench.gateway.configure(settings)
        broker.reconcile(&bench)
        #expect(broker.topics.count == 2)
        settings.homeAssistant?.deviceLimit = 0
        bench.gateway.configure(settings)
        broker.reconcile(&bench)
        #expect(broker.topics.keys.allSatisfy { $0.contains("a4c138000001") } && broker.topics.count == 1)
    }

    @Test("a device that a new filter excludes is removed, and one that it lets pass stays")
    func filter() throws {
        var settings = announcing()
        settings.retainsDocuments = true
        var bench = Bench(settings)
        var broker = Retainer()
        for number in 0..<2 { broker.take(try bench.receive(address(number), Bench.temperature(2000)), &bench) }
        #expect(broker.topics.count == 4)
        var rule = DeviceRule()
        rule.address = 0xA4C1_3800_0000
        settings.filter.deny = [rule]
        bench.gateway.configure(settings)
        _ = bench.wait(2)
        for number in 0..<2 { broker.take(try bench.receive(address(number), Bench.temperature(2000)), &bench) }
        broker.reconcile(&bench)
        #expect(broker.topics.count == 2 && broker.topics.keys.allSatisfy { $0.uppercased().contains("01") })
    }

    @Test("only changes go to the disk, and a copy made of them is the same as everything")
    func changes() throws {
        var settings = announcing()
        settings.retainsDocuments = true
        settings.presence = PresenceRule()
        settings.devices = [KnownDevice(address: 0xC000_0000_0001)]
        var bench = Bench(settings)
        bench.gateway.collectsRetainedChanges(true)
        bench.gateway.restore(RetainedRecord(), at: bench.now, unix: Bench.start)
        var statements: [String: RetainedStatement] = [:]
        var owners: [String: RetainedOwner] = [:]
        func write(_ record: RetainedRecord) {
            for topic in record.removedTopics { statements[topic] = nil }
            for name in record.removedOwners { owners[name] = nil }
            for statement in record.statements { statements[statement.topic] = statement }
            for owner in record.owners { owners[owner.name] = owner }
        }
        var broker = Retainer()
        for round in 0..<40 {
            broker.take(try bench.receive(address(round % 7), Bench.temperature(Int16(round))), &bench)
            broker.take(bench.wait(200), &bench)
            if round % 10 == 9 {
                settings.homeAssistant?.prefix = "ha\(round)"
                bench.gateway.configure(settings)
            }
            broker.reconcile(&bench)
            write(bench.gateway.drainRetainedChanges())
        }
        let all = bench.gateway.retainedRecord
        #expect(statements == Dictionary(uniqueKeysWithValues: all.statements.map { ($0.topic, $0) }))
        #expect(owners.keys.sorted() == all.owners.map(\.name).sorted())
        #expect(bench.gateway.drainRetainedChanges().isEmpty)
        // Documents change with each packet, and only their topics are kept.
        broker.take(try bench.receive(address(3), Bench.temperature(7000)), &bench)
        _ = bench.gateway.drainRetainedChanges()
        _ = bench.wait(2)
        broker.take(try bench.receive(address(3), Bench.temperature(7777)), &bench)
        #expect(bench.gateway.drainRetainedChanges().statements.isEmpty)
    }

    @Test("invented devices with retained documents need bounded memory; without room nothing is retained")
    func bounded() throws {
        var settings = GatewayConfiguration(name: "g")
        settings.retainsDocuments = true
        settings.deviceLimit = 100_000
        settings.devices = [KnownDevice(address: 0xC000_0000_0001)]
        var bench = Bench(settings)
        var retained = 0
        for number in 0..<30_000 {
            let messages = try bench.receive(
                "A4:C1:\(Bench.hex([UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255), 0]).uppercased().pairs)",
                Bench.temperature(2000))
            retained += messages.filter(\.isRetained).count
            #expect(messages.count == 1)
        }
        #expect((1000...24_576).contains(retained))
        #expect(bench.gateway.retainedCount <= 32_768)
        #expect(try bench.receive(Self.phone, Bench.temperature(2000)).allSatisfy(\.isRetained))
    }

    @Test("a record from the disk that says anything is taken as far as it is true")
    func hostileRecord() throws {
        var record = RetainedRecord()
        record.owners = [
            RetainedOwner(name: "a", firstHeard: .max, lastHeard: .min, isResolved: false),
            RetainedOwner(name: "", firstHeard: .min, lastHeard: .max, isResolved: true),
        ]
        for kind in RetainedStatement.Kind.allCases {
            for owner in ["", "a", "\u{0}", Self.phone] {
                record.statements.append(
                    RetainedStatement(
                        topic: "\(kind)/\(owner)", kind: kind, owner: owner, basis: "", payload: [0xFF, 0]))
            }
        }
        record.statements += record.statements
        var bench = Bench(configuration())
        bench.gateway.restore(record, at: bench.now, unix: Bench.start)
        var broker = Retainer()
        broker.reconcile(&bench)
        #expect(broker.removals.count == 20)
        #expect(broker.topics == ["jelling/g/presence/\(Self.phone)": "not_home"])
        #expect(bench.wait(70).map(\.text) == ["not_home"])
    }
}

extension String {
    /// Digits in pairs, with colons.
    fileprivate var pairs: String {
        stride(from: 0, to: utf8.count, by: 2).map { String(dropFirst($0).prefix(2)) }.joined(separator: ":")
    }
}
