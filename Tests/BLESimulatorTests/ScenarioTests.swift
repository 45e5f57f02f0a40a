import BLEPackets
import BLESimulator
import Testing

@Suite("Scenarios")
struct ScenarioTests {
    private func open(_ json: String) throws -> TestHost {
        let (air, controller) = try SimulatedScenario(json: Array(json.utf8)).makeAir()
        let host = TestHost(air, controller: controller)
        host.prepare()
        return host
    }

    private let lamp = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

    @Test("devices stand at their distance with their services and values")
    func devices() throws {
        let host = try open(
            """
            {"devices": [{"name": "Lamp", "address": "C0:00:00:00:00:01/random", "distance": 10, "services": [
              {"uuid": "FFE0", "characteristics": [{"uuid": "FFE1", "properties": ["read", "notify"], "value": "2a"},
                {"uuid": "FFE2", "readError": 128}]}]}]}
            """)
        host.scan()
        host.run(milliseconds: 300)
        #expect(host.legacyReports.first?.address == lamp)
        #expect(host.legacyReports.first?.rssi == -79)
        host.perform(LESetScanEnable(isEnabled: false))
        let link = try host.connect(to: lamp)
        host.send([0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF], to: link)
        host.run(milliseconds: 100)
        #expect(host.frames.last?.payload.last == 0x2A)
        host.send([0x08, 1, 0, 0xFF, 0xFF, 0xE2, 0xFF], to: link)
        host.run(milliseconds: 100)
        #expect(host.frames.last?.payload.last == 128)
    }

    @Test("collisions and drift are the air's, within their limits")
    func conditions() throws {
        let json = #"{"collisions": true, "clockDrift": 40}"#
        let air = try SimulatedScenario(json: Array(json.utf8)).air
        #expect(air.advertisementsCollide && air.clockDriftPartsPerMillion == 40)
        #expect(throws: SimulatedScenario.Problem.self) {
            _ = try SimulatedScenario(json: Array(#"{"clockDrift": 501}"#.utf8))
        }
    }

    @Test("devices come and go at their times")
    func comesAndGoes() throws {
        let host = try open(
            """
            {"devices": [{"address": "C0:00:00:00:00:01/random", "comes": [2, 6], "goes": [4]}]}
            """)
        host.scan(.passive)
        func reports(untilMilliseconds end: Int64) -> Int {
            let before = host.legacyReports.count
            host.run(milliseconds: end - host.air.nowMicroseconds / 1000)
            return host.legacyReports.count - before
        }
        #expect(reports(untilMilliseconds: 2000) == 0)
        #expect(reports(untilMilliseconds: 4000) > 10)
        #expect(reports(untilMilliseconds: 6000) == 0)
        #expect(reports(untilMilliseconds: 7000) > 5)
    }

    @Test("faults begin at their times and end with allClear")
    func faults() throws {
        let host = try open(
            """
            {"faults": [{"at": 1, "kind": "unanswered", "opcode": "0x1009"},
              {"at": 2, "kind": "allClear"}, {"at": 2, "kind": "refused", "opcode": "0x1009", "status": 31, "count": 1},
              {"at": 3, "kind": "hardwareError", "code": 7}, {"at": 4, "kind": "transportClosed"}]}
            """)
        #expect(host.perform(ReadBDADDR()) == .success)
        host.run(milliseconds: 1000)
        #expect(host.perform(ReadBDADDR()) == nil)
        host.run(milliseconds: 1000)
        #expect(host.perform(ReadBDADDR()) == HCIStatus(rawValue: 31))
        #expect(host.perform(ReadBDADDR()) == .success)
        host.run(milliseconds: 1000)
        #expect(
            host.events.contains { if case .hardwareError(let event) = $0 { event.hardwareCode == 7 } else { false } })
        #expect(!host.air.isTransportClosed(of: host.controller))
        host.run(milliseconds: 1000)
        #expect(host.air.isTransportClosed(of: host.controller))
    }

    @Test("a controller is of a real family, with its faults and others")
    func preset() throws {
        let host = try open(
            """
            {"controller": {"preset": "realtek-8761", "address": "00:11:22:33:44:55/public", "resetDelay": 0.5,
              "refusesDisconnect": 31, "reportsNoRSSI": true, "unanswered": ["0x2018"],
              "refused": [{"opcode": "0x2005", "status": 18}], "delayed": [{"opcode": 4105, "delay": 2}],
              "crashes": [{"opcode": "0x2016", "whileScanning": true, "silence": 0.25, "code": 9}],
              "creditsOfFirstAnswer": 0, "refusesUnknownMaskBits": 31, "hearsOnlyFor": 60, "hearsAgainAfter": "reset",
              "greatestReportRate": 9, "failingConnections": 1, "unserved": ["0x2017"], "falselyClaimed": ["0x204B"]}}
            """)
        var expected = SimulatedControllerPreset.realtek8761.faults
        expected.resetDelayMicroseconds = 500_000
        expected.refusesDisconnect = HCIStatus(rawValue: 31)
        expected.reportsNoRSSI = true
        expected.unansweredCommands = [LERand.opcode]
        expected.refusals = [.init(LESetRandomAddress.opcode, status: .invalidCommandParameters)]
        expected.answerDelays = [.init(ReadBDADDR.opcode, microseconds: 2_000_000)]
        expected.crashes = [
            .init(LEReadRemoteFeatures.opcode, whileScanning: true, silenceMicroseconds: 250_000, code: 9)
        ]
        expected.creditsOfFirstAnswer = 0
        expected.refusesUnknownMaskBits = .afterReset
        expected.hearsOnlyForMicroseconds = 60_000_000
        expected.hearsAgainAfter = .reset
        expected.greatestReportRate = 9
        expected.failingConnections = 1
        #expect(host.air.faults(of: host.controller) == expected)
        host.run(milliseconds: 2000)
        #expect(host.query(ReadLocalVersionInformation())?.lmpSubversion == 0xD922)
        #expect(host.perform(LEEncrypt(key: .zero, plaintext: .zero)) == .unknownCommand)
        let commands = host.query(ReadLocalSupportedCommands())?.commands
        #expect(commands?.contains(octet: 38, bit: 7) == true)
        #expect(commands?.contains(LEEncrypt.opcode) == false)
    }

    @Test("a controller can be without LE")
    func noLowEnergy() throws {
        let host = try open(#"{"controller": {"lowEnergy": false}}"#)
        #expect(host.perform(LERand()) == .unknownCommand)
    }

    @Test("a fault lasts until its remedy")
    func until() throws {
        let host = try open(
            """
            {"faults": [{"at": 1, "kind": "hang", "until": "powerCycle"},
              {"at": 2, "kind": "change", "faults": {"reportsNoRSSI": true}},
              {"at": 3, "kind": "powerCycle"},
              {"at": 4, "kind": "change", "until": "reset", "faults": {"hangsAfterReset": true}},
              {"at": 5, "kind": "forget"}]}
            """)
        host.run(milliseconds: 1500)
        #expect(host.perform(Reset()) == nil)
        host.run(milliseconds: 1000)
        #expect(host.perform(Reset()) == nil)
        host.run(milliseconds: 1000)
        #expect(host.perform(ReadBDADDR()) == .success)
        #expect(host.air.faults(of: host.controller).reportsNoRSSI)
        host.run(milliseconds: 1000)
        #expect(host.perform(ReadBDADDR()) == nil)
        host.perform(Reset())
        host.scan()
        #expect(host.air.isScanning(host.controller))
        host.run(milliseconds: 1000)
        #expect(!host.air.isScanning(host.controller))
    }

    @Test("a device may leave instead of answering any request", arguments: 1...3)
    func leavesAtRequest(number: Int) throws {
        let host = try open(
            """
            {"devices": [{"address": "C0:00:00:00:00:01/random", "disconnectsAtRequest": \(number), "services": []}]}
            """)
        let link = try host.connect(to: lamp)
        for _ in 0..<number { host.send([0x0A, 1, 0], to: link) }
        host.run(milliseconds: 500)
        #expect(host.frames.count == number - 1)
        #expect(host.disconnections.map(\.reason) == [.remoteUserTerminatedConnection])
    }

    @Test(
        "errors name the place and what would be right",
        arguments: [
            ("{", "line 1", "key"), ("[]", "", "object"), ("{\"x\":1}", "x", "known keys: seed"),
            ("{\"devices\":[{}]}", "devices[0].address", "missing"),
            ("{\"devices\":[{\"address\":\"x\"}]}", "devices[0].address", "write C0:"),
            (
                "{\"devices\":[{\"address\":\"C0:00:00:00:00:01/random\",\"rssi\":\"x\"}]}", "devices[0].rssi",
                "-127 to 20"
            ),
            (
                "{\"devices\":[{\"address\":\"C0:00:00:00:00:01\",\"services\":[{\"uuid\":\"zz\"}]}]}",
                "devices[0].services[0].uuid", "not a UUID"
            ),
            ("{\"faults\":[{\"kind\":\"x\"}]}", "faults[0].kind", "not one of unanswered"),
            ("{\"faults\":[{\"kind\":\"unanswered\"}]}", "faults[0].opcode", "0x200C"),
            ("{\n\"seed\":1,\n\"seed\":2}", "line 3", "twice"), ("{\"seed\":1} x", "line 1", "unexpected text"),
            ("{\"controller\":{\"version\":\"3\"}}", "controller.version", "4.0, 4.2 and 5.4"),
            ("{\"controller\":{\"preset\":\"x\"}}", "controller.preset", "csr-clone, realtek-8761"),
            ("{\"controller\":{\"preset\":\"esp32\",\"version\":\"4.0\"}}", "controller.version", "its own version"),
            ("{\"controller\":{\"hangs\":1}}", "controller.hangs", "true or false"),
            ("{\"controller\":{\"unanswered\":[\"x\"]}}", "controller.unanswered", "0x200C"),
            ("{\"faults\":[{\"kind\":\"hang\",\"until\":\"x\"}]}", "faults[0].until", "powerCycle"),
            ("{\"faults\":[{\"kind\":\"forget\",\"until\":\"reset\"}]}", "faults[0].until", "no end"),
            ("{\"faults\":[{\"kind\":\"change\",\"faults\":{\"x\":1}}]}", "faults[0].faults.x", "known keys"),
        ])
    func wrong(json: String, place: String, message: String) {
        do throws(SimulatedScenario.Problem) {
            _ = try SimulatedScenario(json: Array(json.utf8))
            Issue.record("read")
        } catch {
            #expect(error.place == place)
            #expect(error.message.contains(message), "\(error)")
        }
    }

    @Test("any octets are a scenario or an error, never a trap")
    func garbage() {
        let text = Array(
            """
            {"seed":1,"devices":[{"address":"C0:00:00:00:00:01/random","comes":[1],"services":[{"uuid":"180D"}]}]}
            """.utf8)
        for position in text.indices {
            for octet in [0, 0x22, 0x2D, 0x5B, 0x7B, 0x7D, 0x5C, 0xFF] as [UInt8] {
                var changed = text
                changed[position] = octet
                do throws(SimulatedScenario.Problem) { _ = try SimulatedScenario(json: changed) } catch {}
            }
            do throws(SimulatedScenario.Problem) { _ = try SimulatedScenario(json: Array(text[..<position])) } catch {}
        }
    }
}
