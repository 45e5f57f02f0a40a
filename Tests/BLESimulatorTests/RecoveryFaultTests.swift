import BLEPackets
import BLESimulator
import Testing

@Suite("Faults that a step of recovery ends")
struct RecoveryFaultTests {
    let air = SimulatedAir.demoWorld()
    let host: TestHost
    let heart = SimulatedPeripheral.jellingHeart.address

    init() { host = .ready(air) }

    /// Tries a remedy and prepares the controller again.
    private func apply(_ remedy: SimulatedControllerRemedy) {
        switch remedy {
        case .scanRestart: host.perform(LESetScanEnable(isEnabled: false))
        case .reset: host.prepare()
        case .reopening:
            air.closeTransport(of: host.controller)
            air.reopenTransport(of: host.controller)
            host.prepare()
        case .powerCycle:
            air.powerCycle(host.controller)
            host.prepare()
        }
        host.scan()
        host.run(milliseconds: 1)
        host.forget()
    }

    private func isHearing(milliseconds: Int64 = 500) -> Bool {
        host.forget()
        host.run(milliseconds: milliseconds)
        return !host.legacyReports.isEmpty
    }

    @Test(
        "a scan that went silent hears again after its remedy and after no weaker one (A28)",
        arguments: SimulatedControllerRemedy.allCases)
    func silence(remedy: SimulatedControllerRemedy) {
        host.scan()
        air.changeFaults(of: host.controller, until: remedy) { $0.silencesReports = true }
        host.run(milliseconds: 1)
        #expect(!isHearing())
        for step in SimulatedControllerRemedy.allCases where step <= remedy {
            apply(step)
            #expect(isHearing() == (step == remedy))
        }
    }

    @Test(
        "a receiver works for some seconds after its remedy, again and again (A28)",
        arguments: SimulatedControllerRemedy.allCases)
    func hearsOnlyFor(remedy: SimulatedControllerRemedy) {
        air.changeFaults(of: host.controller) {
            $0.hearsOnlyForMicroseconds = 2_000_000
            $0.hearsAgainAfter = remedy
        }
        for _ in 0..<3 {
            apply(remedy)
            #expect(isHearing())
            host.run(milliseconds: 3000)
            #expect(!isHearing())
            for step in SimulatedControllerRemedy.allCases where step < remedy {
                apply(step)
                #expect(!isHearing())
            }
        }
    }

    @Test(
        "nothing is answered until the remedy (A78)",
        arguments: [SimulatedControllerRemedy.reset, .reopening, .powerCycle])
    func hang(remedy: SimulatedControllerRemedy) {
        host.scan()
        air.changeFaults(of: host.controller, until: remedy) { $0.hangs = true }
        host.run(milliseconds: 1)
        #expect(!isHearing())
        #expect(host.perform(LERand()) == nil)
        for step in [SimulatedControllerRemedy.reset, .reopening, .powerCycle] where step <= remedy {
            apply(step)
            #expect((host.perform(LERand()) == .success) == (step == remedy))
        }
    }

    @Test("Reset is answered and does not help (A78)", arguments: [SimulatedControllerRemedy.reopening, .powerCycle])
    func hangAfterReset(remedy: SimulatedControllerRemedy) {
        air.changeFaults(of: host.controller, until: remedy) { $0.hangsAfterReset = true }
        for _ in 0..<3 {
            #expect(host.perform(Reset()) == .success)
            #expect(host.perform(LERand()) == nil)
        }
        apply(remedy)
        #expect(host.perform(LERand()) == .success)
    }

    @Test("one command is never answered until power-on, although Reset is (A78)")
    func unansweredCommand() {
        air.changeFaults(of: host.controller, until: .powerCycle) {
            $0.unansweredCommands = [LESetScanEnable.opcode]
        }
        for _ in 0..<3 {
            #expect(host.perform(Reset()) == .success)
            #expect(host.perform(LESetScanEnable(isEnabled: true)) == nil)
        }
        apply(.powerCycle)
        #expect(isHearing())
    }

    @Test("faults with different remedies end one by one, and a lasting change stays (A78)")
    func severalRemedies() {
        air.changeFaults(of: host.controller, until: .reset) { $0.silencesReports = true }
        air.changeFaults(of: host.controller, until: .powerCycle) { $0.initiatesNever = true }
        air.changeFaults(of: host.controller) { $0.reportsNoRSSI = true }
        apply(.reset)
        var faults = air.faults(of: host.controller)
        #expect(!faults.silencesReports && faults.initiatesNever && faults.reportsNoRSSI)
        apply(.reopening)
        #expect(air.faults(of: host.controller).initiatesNever)
        apply(.powerCycle)
        faults = air.faults(of: host.controller)
        #expect(!faults.initiatesNever && faults.reportsNoRSSI)
    }

    @Test("a controller forgets everything without an event, and its transport stays open (A76)")
    func forgetsEverything() throws {
        _ = try host.connect(to: heart)
        #expect(host.advertise() == .success)
        host.forget()
        air.forgetEverything(host.controller, at: air.nowMicroseconds + 1000)
        host.run(milliseconds: 2000)
        #expect(host.events.isEmpty)
        #expect(!air.isTransportClosed(of: host.controller))
        // The link is unknown, and advertising is off: its parameters may change.
        #expect(host.perform(LESetAdvertisingParameters()) == .success)
        #expect(
            host.query(ReadRSSI(connectionHandle: ConnectionHandle(rawValue: 0x40)))?.status
                == .unknownConnectionIdentifier)
    }

    @Test("a command crashes the controller while it scans: silence, then Hardware Error (A48)")
    func crash() throws {
        air.changeFaults(of: host.controller) {
            $0.crashes = [.init(LEReadRemoteFeatures.opcode, whileScanning: true)]
        }
        var link = try host.connect(to: heart)
        #expect(host.perform(LEReadRemoteFeatures(connectionHandle: link)) == .success)
        host.scan()
        #expect(host.perform(LEReadRemoteFeatures(connectionHandle: link)) == nil)
        host.forget()
        host.run(milliseconds: 990)
        #expect(host.events.isEmpty)
        host.run(milliseconds: 20)
        #expect(host.events == [.hardwareError(.init(hardwareCode: 0x03))])
        #expect(host.query(ReadRSSI(connectionHandle: link))?.status == .unknownConnectionIdentifier)
        host.prepare()
        air.advance(to: air.nowMicroseconds + 5_000_000)
        link = try host.connect(to: heart)
        host.scan()
        host.perform(LEReadRemoteFeatures(connectionHandle: link))
        // Reset ends the silence, too.
        #expect(host.perform(Reset()) == .success)
    }

    @Test("too many reports crash the controller (A41)")
    func crashingRate() {
        air.changeFaults(of: host.controller) { $0.crashingReportRate = 5 }
        host.scan()
        host.run(milliseconds: 3000)
        #expect(host.legacyReports.count <= 10)
        #expect(host.events.contains(.hardwareError(.init(hardwareCode: 0x03))))
    }

    @Test("the transport closes by itself some time after each opening (A81)")
    func flapping() {
        air.changeFaults(of: host.controller) { $0.closesAfterMicroseconds = 2_000_000 }
        for _ in 0..<3 {
            air.reopenTransport(of: host.controller)
            air.powerCycle(host.controller)
            host.run(milliseconds: 1900)
            #expect(!air.isTransportClosed(of: host.controller))
            host.run(milliseconds: 200)
            #expect(air.isTransportClosed(of: host.controller))
        }
    }

    @Test("power goes and comes: links fall silent, settings and waiting packets are gone (A79)")
    func powerCycle() throws {
        _ = try host.connect(to: heart)
        host.scan()
        host.send(LERand())
        air.powerCycle(host.controller)
        #expect(!air.isTransportClosed(of: host.controller))
        host.forget()
        host.run(milliseconds: 500)
        #expect(host.events.isEmpty)
        host.prepare()
        #expect(host.scan() == .success)
        #expect(isHearing())
    }
}
