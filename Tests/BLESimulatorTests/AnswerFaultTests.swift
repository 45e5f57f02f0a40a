import BLEPackets
import BLESimulator
import Testing

@Suite("Faults of answers and of the start")
struct AnswerFaultTests {
    let air = SimulatedAir.demoWorld()

    /// The credits in the answers so far, and the opcodes that they answer.
    private func answers(_ host: TestHost) -> [[Int]] {
        host.events.compactMap {
            switch $0 {
            case .commandComplete(let answer): [Int(answer.opcode.rawValue), Int(answer.commandCredits)]
            case .commandStatus(let answer): [Int(answer.opcode.rawValue), Int(answer.commandCredits)]
            default: nil
            }
        }
    }

    private func host(
        _ configuration: SimulatedControllerConfiguration = .init(),
        _ change: (inout SimulatedControllerFaults) -> Void
    ) -> TestHost {
        var faults = SimulatedControllerFaults()
        change(&faults)
        return TestHost(air, controller: air.addController(configuration, faults: faults))
    }

    @Test("the first answer after power-on has no credit, the others have (A1)")
    func creditsOfFirstAnswer() {
        let host = host { $0.creditsOfFirstAnswer = 0 }
        host.perform(Reset())
        host.perform(ReadBDADDR())
        #expect(answers(host) == [[0x0C03, 0], [0x1009, 1]])
        air.powerCycle(host.controller)
        host.forget()
        host.perform(Reset())
        #expect(answers(host) == [[0x0C03, 0]])
    }

    @Test("credits come with an event for no command (A2)")
    func creditsByNOP() {
        let host = host { $0.returnsCreditsByNOP = true }
        host.perform(ReadBDADDR())
        #expect(answers(host) == [[0x1009, 0], [0, 1]])
    }

    @Test("an event for no command comes at power-on (A2)")
    func bootNOP() {
        let host = host { $0.sendsNOPAtBoot = true }
        host.run(milliseconds: 1)
        #expect(answers(host) == [[0, 1]])
        air.closeTransport(of: host.controller)
        air.reopenTransport(of: host.controller)
        host.run(milliseconds: 1)
        #expect(answers(host) == [[0, 1], [0, 1]])
    }

    @Test("Reset is answered late, and what follows it after it (A4)")
    func lateReset() {
        let host = host { $0.resetDelayMicroseconds = 3_000_000 }
        #expect(host.perform(Reset()) == nil)
        host.run(milliseconds: 2990)
        host.send(ReadBDADDR())
        #expect(answers(host).isEmpty)
        host.run(milliseconds: 20)
        #expect(answers(host).map(\.[0]) == [0x0C03, 0x1009])
    }

    @Test("Reset has two answers (A4)")
    func twoAnswers() {
        let host = host { $0.answersResetTwice = true }
        host.perform(Reset())
        #expect(answers(host).map(\.[0]) == [0x0C03, 0x0C03])
        host.perform(ReadBDADDR())
        #expect(answers(host).map(\.[0]) == [0x0C03, 0x0C03, 0x1009])
    }

    @Test("Reset makes the transport close, and it can be opened again (A5)")
    func resetCloses() {
        let host = host { $0.resetClosesTransport = true }
        #expect(host.perform(ReadBDADDR()) == .success)
        #expect(host.perform(Reset()) == nil)
        #expect(air.isTransportClosed(of: host.controller))
        air.reopenTransport(of: host.controller)
        #expect(host.perform(ReadBDADDR()) == .success)
    }

    @Test("one command is answered late; a cancel that comes meanwhile is answered after it (A98)")
    func lateCommand() {
        let host = host { $0.answerDelays = [.init(LECreateConnection.opcode, microseconds: 10_000_000)] }
        host.prepare()
        host.forget()
        host.beginConnecting(to: DeviceAddress(value: 9, kind: .public))
        host.perform(LECreateConnectionCancel())
        #expect(answers(host).isEmpty)
        host.run(milliseconds: 10_000)
        #expect(answers(host).map(\.[0]) == [0x200D, 0x200E])
    }

    @Test("a controller without LE knows no command of LE, and says so in its features (A8)")
    func noLowEnergy() {
        let host = host(.withoutLowEnergy()) { _ in }
        #expect(host.perform(Reset()) == .success)
        #expect(host.perform(LEReadLocalSupportedFeatures()) == .unknownCommand)
        #expect(host.perform(LESetScanEnable(isEnabled: true)) == .unknownCommand)
        let features = host.query(ReadLocalSupportedFeatures())?.features ?? .max
        #expect(features >> 38 & 1 == 0 && features >> 37 & 1 == 0)
        let commands = host.query(ReadLocalSupportedCommands())?.commands
        #expect(commands?.contains(Reset.opcode) == true)
        #expect(commands?.contains(LESetEventMask.opcode) == false)
    }

    @Test("unknown bits of the LE event mask are refused, known ones accepted (A14)")
    func unknownMaskBits() {
        let host = host { $0.refusesUnknownMaskBits = .afterReset }
        #expect(host.perform(LESetEventMask(mask: LEEventMask(rawValue: 0x3F))) == .invalidCommandParameters)
        #expect(host.perform(LESetEventMask(mask: .afterReset)) == .success)
    }

    @Test("after Set Event Mask Page 2 no Encryption Change comes (A16)")
    func mutedEncryption() throws {
        for isMuted in [false, true] {
            let host = host { $0.pageTwoMutesEncryption = true }
            host.prepare()
            let link = try host.connect(to: SimulatedPeripheral.jellingHeart.address)
            if isMuted { host.perform(SetEventMaskPage2(mask: [])) }
            host.perform(
                LEEnableEncryption(connectionHandle: link, randomNumber: 0, encryptedDiversifier: 0, longTermKey: .zero)
            )
            host.run(milliseconds: 1000)
            let changes = host.events.filter { if case .encryptionChange = $0 { true } else { false } }
            #expect(changes.isEmpty == isMuted)
            air.closeTransport(of: host.controller)
            air.advance(to: air.nowMicroseconds + 5_000_000)
        }
    }

    @Test("a controller reports more and longer buffers than it has, and loses what is too much (A18)")
    func claimedBuffers() throws {
        var configuration = SimulatedControllerConfiguration()
        configuration.claimedDataLength = 8192
        configuration.claimedDataCount = 128
        let host = host(configuration) { _ in }
        host.prepare()
        let shared = host.query(ReadBufferSize())
        #expect(shared?.aclDataPacketLength == 8192 && shared?.totalACLDataPackets == 128)
        let buffers = host.query(LEReadBufferSize())
        #expect(buffers?.aclDataPacketLength == 8192 && buffers?.totalACLDataPackets == 128)
        let link = try host.connect(to: SimulatedPeripheral.jellingHeart.address)
        host.send([UInt8](repeating: 0x0A, count: 300), to: link, fragment: 304)
        host.run(milliseconds: 10)
        #expect(air.statistics(of: host.controller).bufferOverflows == 1)
        #expect(host.events.contains(.dataBufferOverflow(.init(linkType: 1))))
    }

    @Test("HCI revision and LMP subversion differ (A19)")
    func revisions() {
        var configuration = SimulatedControllerConfiguration()
        (configuration.hciRevision, configuration.subversion) = (0x000B, 0x8761)
        let version = host(configuration) { _ in }.query(ReadLocalVersionInformation())
        #expect(version?.hciSubversion == 0x000B && version?.lmpSubversion == 0x8761)
    }

    @Test("LE host support must be written before scanning, advertising and connecting (A21)")
    func hostSupport() {
        let host = host { $0.needsLEHostSupport = true }
        host.prepare()
        #expect(host.scan() == .commandDisallowed)
        #expect(host.advertise() == .commandDisallowed)
        #expect(host.beginConnecting(to: DeviceAddress(value: 9, kind: .public)) == .commandDisallowed)
        host.perform(WriteLEHostSupport(isSupported: true))
        #expect(host.scan() == .success)
    }

    @Test("the supported commands are what the configuration claims (A7)")
    func claimedCommands() {
        var configuration = SimulatedControllerConfiguration()
        var commands = SupportedCommands()
        commands.insert(octet: 37, bit: 5)
        commands.insert(octet: 63, bit: 7)
        configuration.claimedCommands = commands
        #expect(host(configuration) { _ in }.query(ReadLocalSupportedCommands())?.commands == commands)
    }

    @Test("a command beyond the simulated ones returns what the configuration has for it (A9)")
    func fixedAnswers() {
        var configuration = SimulatedControllerConfiguration()
        let opcode = HCIOpcode(group: .vendorSpecific, command: 0x009)
        configuration.fixedAnswers = [.init(opcode, returns: [0, 1, 6, 5, 4, 3, 2, 0xC1])]
        let host = host(configuration) { _ in }
        host.send([1, 0x09, 0xFC, 0])
        host.run(milliseconds: 1)
        #expect(host.packets == [[4, 0x0E, 11, 1, 0x09, 0xFC, 0, 1, 6, 5, 4, 3, 2, 0xC1]])
    }

    @Test("the mask of LE events after a reset is not the default (A102)")
    func maskAfterReset() {
        var configuration = SimulatedControllerConfiguration()
        configuration.leEventMaskAfterReset = []
        let host = host(configuration) { _ in }
        host.perform(Reset())
        host.perform(SetEventMask(mask: EventMask(rawValue: .max)))
        host.scan()
        host.run(milliseconds: 500)
        #expect(host.legacyReports.isEmpty)
        host.perform(LESetEventMask(mask: .afterReset))
        host.run(milliseconds: 500)
        #expect(!host.legacyReports.isEmpty)
    }

    @Test("an event of the vendor and one with code 0 come with each event (A92)")
    func strayEvents() {
        let host = host { $0.addsStrayEvents = true }
        host.prepare()
        host.scan()
        host.run(milliseconds: 300)
        let reports = host.packets.filter { $0[1] == 0x3E }.count
        #expect(reports > 0)
        #expect(host.packets.filter { $0[1] == 0xFF }.count == reports)
        #expect(host.packets.filter { $0[1] == 0x00 }.count == reports)
    }
}
