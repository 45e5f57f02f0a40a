import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import TestSupport
import Testing

@testable import BLEDaemon

@Suite("Adapters in trouble")
struct AdapterTroubleTests {
    private func lines(_ daemon: VirtualDaemon, _ part: String) -> Int { daemon.log.count { $0.line.contains(part) } }

    /// What the app was told last.
    private func state(_ app: VirtualApp) -> ManagerState? {
        app.events.compactMap { if case .stateChanged(let state, _) = $0.event { state } else { nil } }.last
    }

    @Test(
        "an adapter that drops off after each Reset is not opened in a loop, which is told once, with the remedy (A5, A81)"
    )
    func flapping() {
        let daemon = VirtualDaemon()
        let begin = daemon.world.now
        var opened = 0
        for _ in 0..<10_000 {
            guard daemon.world.now < begin.advanced(by: .seconds(3600)) else { break }
            if daemon.engine.hasTransport {
                opened += 1
                daemon.loseController()
            }
            // It is back within a second, each time.
            daemon.world.run(for: .seconds(1)) { daemon.engine.hasTransport }
            daemon.returnController()
        }
        // 0.25 s … 64 s are ten, and then there is one in two minutes.
        #expect((30...45).contains(opened), "\(opened)")
        #expect(lines(daemon, "bled waits longer between tries") == 1)
        let status = daemon.status.adapters[0]
        #expect(status.trouble == "the adapter is gone")
        #expect(status.notes.contains { $0.contains("see why in the lines before") }, "\(status.notes)")
        // It is plugged into another port, and works.
        #expect(daemon.operate(.power(true))?.error == "")
        daemon.world.run(for: .seconds(61))
        #expect(daemon.status.adapters[0].information != nil)
        #expect(daemon.status.adapters[0].notes.isEmpty)
        // That it works for a minute is enough.
        daemon.loseController()
        daemon.world.run(for: .seconds(2))
        daemon.returnController()
        #expect(daemon.engine.hasTransport)
    }

    @Test("the machine's switch ends what programs do as an operator's does, and the radio comes back with it (A94)")
    func machineSwitch() {
        let daemon = VirtualDaemon()
        let app = daemon.app("org.example.app")
        daemon.world.run(for: .seconds(1))
        #expect(state(app) == .poweredOn)
        let tool = daemon.tool()
        let scan = tool.request(.radio(.scan(ScanRequest())))
        daemon.world.run(for: .seconds(1))
        for _ in 0..<2 {
            daemon.input(.controller(.machineSwitch("thinkpad_bluetooth")))
            daemon.world.run(for: .seconds(5))
            #expect(!daemon.engine.isOpen)
            #expect(state(app) == .poweredOff)
            let trouble = daemon.status.adapters[0].trouble ?? ""
            #expect(trouble.contains("‘thinkpad_bluetooth’") && trouble.contains("rfkill unblock"))
            // Adapters that come, and time, open nothing.
            daemon.returnController()
            daemon.world.run(for: .seconds(600))
            #expect(!daemon.engine.isOpen)
            daemon.input(.controller(.machineSwitch(nil)))
            daemon.world.run(for: .seconds(5))
            #expect(state(app) == .poweredOn)
        }
        #expect(tool.ends[scan] != nil || tool.isClosed)
    }

    @Test("Bluetooth that an operator and the machine have switched off comes back when both have switched it on (A94)")
    func bothSwitches() {
        let daemon = VirtualDaemon()
        daemon.operate(.power(false))
        daemon.input(.controller(.machineSwitch("rfkill0")))
        daemon.input(.controller(.machineSwitch(nil)))
        daemon.world.run(for: .seconds(5))
        #expect(!daemon.engine.isOpen && daemon.status.adapters[0].trouble?.contains("an operator") == true)
        daemon.input(.controller(.machineSwitch("rfkill0")))
        daemon.operate(.power(true))
        daemon.world.run(for: .seconds(5))
        #expect(!daemon.engine.isOpen && daemon.status.adapters[0].trouble?.contains("‘rfkill0’") == true)
        daemon.input(.controller(.machineSwitch(nil)))
        daemon.world.run(for: .seconds(5))
        #expect(daemon.status.adapters[0].information != nil)
    }

    @Test("an operator resets the device, and hears whether that worked; nobody else may (A78)")
    func reset() {
        let daemon = VirtualDaemon()
        let tool = daemon.tool()
        let scan = tool.request(.radio(.scan(ScanRequest())))
        daemon.world.run(for: .seconds(1))
        #expect(daemon.operate(.resetDevice)?.error == "")
        #expect(daemon.resets == 1)
        daemon.world.run(for: .seconds(5))
        #expect(tool.ends[scan] == nil && !tool.isClosed, "the scan goes on")
        daemon.resetProblem = "no permission"
        #expect(daemon.operate(.resetDevice)?.error == "the device could not be reset: no permission")
        for request in [OperatorRequest.resetDevice, .forgetTraits] {
            let person = daemon.person(user: 1000)
            person.send(.operatorRequest(request))
            daemon.world.run(for: .seconds(1))
            #expect(person.refusal == .notAllowed && person.answers.isEmpty)
        }
        #expect(daemon.resets == 2)
        #expect(daemon.operate(.forgetTraits)?.error == "")
        // While Bluetooth is off there is nothing to reset.
        daemon.operate(.power(false))
        #expect(daemon.operate(.resetDevice)?.error.contains("Bluetooth is off") == true)
        #expect(daemon.resets == 2)
    }

    @Test("what the device is, and what people should know of it, is in the status (A82)")
    func notes() {
        let daemon = VirtualDaemon()
        daemon.input(.controller(.notes("usb 0a12:0001 (0134) at 1-2.3, btusb", ["hci0: the kernel may suspend it"])))
        let status = daemon.status.adapters[0]
        #expect(status.device == "usb 0a12:0001 (0134) at 1-2.3, btusb")
        #expect(status.notes == ["hci0: the kernel may suspend it"])
    }

    @Test("what the engine gives up is said in its words, once, and another adapter is looked for (A8)")
    func givenUp() throws {
        var rules = DaemonRules()
        rules.users = [1000]
        var stage = CoreStage(rules)
        stage.apply(.begun)
        stage.machine.isConnected = true
        for _ in 0..<3 {
            stage.handle(.failed(.controllerFault(.noLowEnergy)))
            let asked = stage.effects.compactMap { effect in
                switch effect {
                case .closeController: "close"
                case .takeNextAdapter: "next"
                default: nil
                }
            }
            #expect(asked == ["close", "next"])
            stage.effects = stage.effects.filter { if case .log = $0 { true } else { false } }
            stage.machine.isConnected = false
            stage.apply(.controller(.ended(nil)))
            stage.wait(until: stage.time + 10_000_000)
            stage.machine.isConnected = true
        }
        let lines = stage.effects.compactMap { if case .log(_, let line) = $0 { line } else { nil } }
        #expect(lines.count { $0.contains("the controller failed: this adapter has no Bluetooth LE") } == 1, "\(lines)")
        #expect(lines.count { $0.contains("no controller: this adapter has no Bluetooth LE") } == 1)
        #expect(!lines.contains { $0.contains("does not respond") || $0.contains("was closed") })
        // Another one is taken: it is opened without a pause of the first one's.
        stage.machine.isConnected = false
        stage.effects = []
        stage.apply(.controller(.otherAdapter))
        #expect(stage.effects.contains(.openController))
    }

    @Test("what no recovery cures is told once, and is in the status until the controller is opened again (A28)")
    func faultRemains() throws {
        let daemon = VirtualDaemon()
        daemon.withCore { $0.handle(.faultRemains(.noReports)) }
        daemon.withCore { $0.handle(.faultRemains(.noReports)) }
        #expect(daemon.status.adapters[0].notes.contains { $0.contains("reports nothing any more") })
        #expect(lines(daemon, "reports nothing any more") == 1)
        #expect(daemon.operate(.resetDevice)?.error == "")
        daemon.world.run(for: .seconds(5))
        #expect(daemon.status.adapters[0].notes.isEmpty)
    }

    @Test("a recovery is in the log with its cause and its step, and of many only some are")
    func recoveries() {
        let daemon = VirtualDaemon()
        daemon.withCore { $0.handle(.recovering(.reset)) }
        daemon.input(.advance)
        #expect(lines(daemon, "the controller is recovered by a Reset") == 1, "\(daemon.log)")
        for _ in 0..<100 { daemon.withCore { $0.handle(.recovering(.reopenTransport)) } }
        daemon.input(.advance)
        #expect(lines(daemon, "by closing and opening its transport") == 4)
        var news = RecoveryNews()
        var counters = HostCounters()
        counters.commandTimeouts = 1
        counters.hardwareErrors = 2
        #expect(
            news.line(of: .resetDevice, counters, links: 2, at: 0)
                == "the controller is recovered by a reset of its device, after a command without an answer, "
                + "2 hardware errors; its 2 links end")
        for _ in 0..<10 { _ = news.line(of: .reset, counters, links: 0, at: 1) }
        #expect(
            news.line(of: .reset, counters, links: 1, at: 60_000_000)
                == "the controller is recovered by a Reset; its link ends (after 6 more recoveries)")
    }

    @Test("the remedy of what the engine gives up is in the log and in the status once")
    func remedyOnce() {
        let daemon = VirtualDaemon()
        daemon.withCore { $0.handle(.faultRemains(.noReports)) }
        daemon.withCore { $0.handle(.failed(.controllerUnresponsive)) }
        daemon.input(.advance)
        let remedy = "unplug it or switch it off and on"
        #expect(lines(daemon, remedy) >= 2)
        #expect(daemon.log.allSatisfy { $0.line.ranges(of: remedy).count <= 1 }, "\(daemon.log)")
    }

    @Test("what to do about a controller that is lost again and again is what its transport allows")
    func remediesOfFalls() throws {
        var desk = ControllerDesk(key: nil)
        for second in 0..<5 { _ = desk.pauses.fell(at: UInt64(second) * 1_000_000) }
        func text(_ address: String) throws -> String {
            desk.warningOfFalls(at: try TransportAddress(address)) ?? ""
        }
        for address in ["user:0", "usb"] { #expect(try text(address).contains("autosuspend")) }
        for address in ["unix:/c", "tcp:h:1", "uart:/dev/x@115200", "sim"] {
            let words = try text(address)
            #expect(words.contains(address) && !words.contains("autosuspend") && !words.contains("dmesg"), "\(words)")
        }
        #expect(try text("uart:/dev/x@115200").contains("baud rate"))
    }

    @Test("what was learned of the controller is in the status, also of one that is away")
    func learnedIsInTheStatus() {
        let daemon = VirtualDaemon()
        #expect(daemon.status.adapters[0].learned?.experience == ControllerExperience())
        let experience = ControllerExperience(found: [.flaps], refuted: [.isClone])
        daemon.withCore { $0.handle(.controllerLearned(experience)) }
        daemon.loseController()
        #expect(daemon.status.adapters[0].learned?.experience == experience)
    }

    @Test("what the engine learns of the controller is kept (A26)")
    func learned() {
        let daemon = VirtualDaemon()
        let experience = ControllerExperience(found: [.scansWithLegacyCommands])
        daemon.withCore { $0.handle(.controllerLearned(experience)) }
        daemon.input(.advance)
        #expect(daemon.kept == [experience])
    }

    @Test("the engine's own wish for a reset of the device is carried out once, and programs do not notice (A78)")
    func resetByEngine() {
        let daemon = VirtualDaemon()
        let tool = daemon.tool()
        let scan = tool.request(.radio(.scan(ScanRequest())))
        daemon.world.run(for: .seconds(1))
        daemon.resetProblem = "no permission"
        daemon.withCore { $0.handle(.reopenTransport(resetsDevice: true)) }
        daemon.input(.advance)
        daemon.world.run(for: .seconds(5))
        #expect(daemon.resets == 1)
        #expect(tool.ends[scan] == nil && !tool.isClosed)
        #expect(daemon.status.adapters[0].information != nil)
    }
}
