import BLEPackets
import Testing

@testable import BLEHost

/// How real controllers deviate while they are started, played by answers.
@Suite("Starts of real controllers")
struct StartOddsTests {
    private static func version(
        _ company: UInt16, hci: HCIVersion = .core50, revision: UInt16 = 0, subversion: UInt16
    ) -> HostRig.Answer {
        var parameters = PacketWriter()
        ReadLocalVersionInformation.ReturnParameters(
            hciVersion: hci, hciSubversion: revision, lmpVersion: hci,
            manufacturer: CompanyIdentifier(rawValue: company), lmpSubversion: subversion
        ).encode(into: &parameters)
        return .complete(parameters.bytes)
    }

    private static func address(_ value: UInt64) -> HostRig.Answer {
        var parameters = PacketWriter()
        ReadBDADDR.ReturnParameters(address: DeviceAddress(value: value, kind: .public)).encode(into: &parameters)
        return .complete(parameters.bytes)
    }

    private static func lmpFeatures(_ features: UInt64) -> HostRig.Answer {
        var parameters = PacketWriter()
        ReadLocalSupportedFeatures.ReturnParameters(features: features).encode(into: &parameters)
        return .complete(parameters.bytes)
    }

    private static func commands(_ opcodes: HCIOpcode...) -> HostRig.Answer {
        var supported = SupportedCommands()
        for opcode in opcodes { supported.insert(opcode) }
        var parameters = PacketWriter()
        parameters.write(UInt8(0))
        supported.encode(into: &parameters)
        return .complete(parameters.bytes)
    }

    private static let fallback = DeviceAddress(value: 0xC0FF_EE12_3456, kind: .random)

    private static func rig() -> HostRig {
        HostRig(configuration: HostConfiguration(ownAddress: .automatic(fallback: fallback)))
    }

    private static func information(_ rig: HostRig) throws -> ControllerInformation {
        try #require(rig.events.compactMap { if case .ready(let information) = $0 { information } else { nil } }.last)
    }

    @Test("a controller that gives no credit with its first answer gets the next command after 2 s (A1)")
    func noFirstCredit() {
        let rig = HostRig()
        rig.answers[Reset.opcode] = .silence
        rig.start()
        rig.receive(CommandComplete(commandCredits: 0, opcode: Reset.opcode, returnParameters: [0]))
        #expect(rig.commands.count == 1)
        rig.advance(by: .seconds(2))
        #expect(rig.isReady)
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("vendor events, events of later versions and event 0 are ignored (A92)")
    func unknownEvents() {
        let rig = HostRig()
        rig.start()
        rig.forget()
        for code in [0x00, 0x5F, 0xFF] as [UInt8] {
            for length in [0, 1, 255] {
                rig.receive([0x04, code, UInt8(length)] + [UInt8](repeating: 0xC2, count: length))
            }
        }
        #expect(rig.isReady)
        #expect(rig.commands.isEmpty)
    }

    @Test("credits that come with an answer for opcode 0 are taken (A2)")
    func nopCredits() {
        let rig = HostRig()
        rig.start()
        rig.receive(CommandComplete(commandCredits: 0, opcode: HCIOpcode(rawValue: 0), returnParameters: []))
        rig.receive(CommandComplete(commandCredits: 1, opcode: HCIOpcode(rawValue: 0), returnParameters: []))
        let operation = rig.submit(.sendHCICommand(opcode: ReadRSSI.opcode, parameters: [0x40, 0]))
        #expect(rig.results(of: operation).count == 1)
    }

    @Test("where the random address is refused, the public one is used (A3)")
    func randomAddressRefused() throws {
        let rig = HostRig(configuration: HostConfiguration(ownAddress: .random(Self.fallback)))
        rig.features = [.encryption, .extendedAdvertising]
        rig.answers[LESetRandomAddress.opcode] = .status(.unknownCommand)
        rig.start()
        #expect(try Self.information(rig).ownAddress?.isRandom == false)
        rig.submit(.radio(.scan(ScanRequest())))
        let parameters = try #require(rig.commands.first { $0.opcode == LESetExtendedScanParameters.opcode }).parameters
        #expect(parameters.first == OwnAddressType.public.rawValue)
    }

    @Test("a Reset that is answered after 5 s is waited for (A4)")
    func slowReset() {
        let rig = HostRig()
        rig.answers[Reset.opcode] = .silence
        rig.start()
        rig.advance(by: .seconds(5))
        #expect(rig.counters.controllerResets == 0)
        rig.receive(CommandComplete(commandCredits: 1, opcode: Reset.opcode, returnParameters: [0]))
        #expect(rig.isReady)
        #expect(rig.count(of: Reset.opcode) == 1)
    }

    @Test("a second answer to a Reset is not taken for that of the next command (A4)")
    func resetAnsweredTwice() {
        let rig = HostRig()
        rig.answers[ReadLocalVersionInformation.opcode] = .silence
        rig.start()
        rig.receive(CommandComplete(commandCredits: 1, opcode: Reset.opcode, returnParameters: [0]))
        #expect(!rig.isReady)
        rig.advance(by: .seconds(2))
        #expect(rig.isReady)
    }

    private func leave(_ rig: HostRig, times: Int) {
        rig.answers[Reset.opcode] = .silence
        for _ in 0..<times {
            rig.start()
            rig.advance(by: .milliseconds(300))
            rig.closeTransport()
        }
    }

    @Test("a controller that leaves its bus at each Reset is started without one, for as long as the engine lives (A5)")
    func leavesOnReset() throws {
        let rig = HostRig()
        leave(rig, times: 2)
        rig.forget()
        rig.start()
        #expect(rig.isReady)
        #expect(rig.count(of: Reset.opcode) == 0)
        #expect(!rig.events.contains { if case .controllerLearned = $0 { true } else { false } }, "not for good")
    }

    @Test("a controller that is unplugged, or a program that is stopped, during Reset proves nothing (A5)")
    func leavesOnce() throws {
        let rig = HostRig()
        leave(rig, times: 1)
        rig.answers[Reset.opcode] = nil
        rig.forget()
        rig.start()
        #expect(rig.isReady && rig.count(of: Reset.opcode) == 1)
    }

    @Test("where a start without Reset fails, too, Reset is sent again (A5)")
    func leavesOnNoise() throws {
        let rig = HostRig()
        leave(rig, times: 2)
        rig.answers[ReadLocalVersionInformation.opcode] = .silence
        rig.start()
        rig.advance(by: .milliseconds(300))
        rig.closeTransport()
        rig.answers[Reset.opcode] = nil
        rig.answers[ReadLocalVersionInformation.opcode] = nil
        rig.forget()
        rig.start()
        #expect(rig.isReady && rig.count(of: Reset.opcode) == 1)
    }

    @Test("commands that tell more about a controller may be unknown (A6)")
    func oldController() {
        let rig = HostRig()
        for opcode in [
            ReadLocalSupportedCommands.opcode, ReadLocalSupportedFeatures.opcode, LEReadSupportedStates.opcode,
            LEReadFilterAcceptListSize.opcode,
        ] { rig.answers[opcode] = .status(.unknownCommand) }
        rig.start()
        #expect(rig.isReady)
    }

    @Test("an adapter without LE is said to have none, at once and without a Reset more (A8)")
    func noLowEnergy() {
        let rig = HostRig()
        rig.answers[LEReadLocalSupportedFeatures.opcode] = .status(.unknownCommand)
        rig.start()
        #expect(rig.events.contains(.failed(.controllerFault(.noLowEnergy))))
        #expect(rig.count(of: Reset.opcode) == 1)
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.results(of: scan) == [.failure(.controllerFault(.noLowEnergy))])
    }

    @Test("a controller without an address gets the static one that its maker gave it (A9)")
    func staticAddress() throws {
        let rig = Self.rig()
        rig.answers[ReadLocalVersionInformation.opcode] = Self.version(0x05F1, subversion: 1)
        rig.answers[ReadBDADDR.opcode] = Self.address(0)
        rig.answers[HCIOpcode(rawValue: 0xFC02)] = .complete([0, 0xFF, 0x01, 0, 0, 0, 0, 0, 0])
        rig.answers[HCIOpcode(rawValue: 0xFC09)] = .complete(
            [0, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0xE6] + [UInt8](repeating: 9, count: 16))
        rig.start()
        #expect(try Self.information(rig).ownAddress == DeviceAddress(value: 0xE655_4433_2211, kind: .random))
    }

    @Test(
        "vendor commands go only to the maker that has them, and their answers may be anything (A9)",
        arguments: [[0], [0, 1], [0, 1, 1, 2, 3], [0, 1, 1, 1, 1, 1, 1, 1], [1], []] as [[UInt8]])
    func hostileStaticAddress(answer: [UInt8]) throws {
        let rig = Self.rig()
        rig.answers[ReadLocalVersionInformation.opcode] = Self.version(0x05F1, subversion: 1)
        rig.answers[ReadBDADDR.opcode] = Self.address(0)
        rig.answers[HCIOpcode(rawValue: 0xFC02)] = .complete([0, 0xFF, 0x01])
        rig.answers[HCIOpcode(rawValue: 0xFC09)] = .complete(answer)
        rig.start()
        #expect(try Self.information(rig).ownAddress == Self.fallback)
        let other = Self.rig()
        other.answers[ReadLocalVersionInformation.opcode] = Self.version(0x000F, subversion: 0x6119)
        other.answers[ReadBDADDR.opcode] = Self.address(0)
        other.start()
        #expect(other.commands.allSatisfy { $0.opcode.rawValue >> 10 != 0x3F })
    }

    @Test(
        "a public address that many controllers have counts as none (A10) (A11) (A13)",
        arguments: [0x2070_02A0_0000, 0xAAAA_AAAA_AAAA, 0x0003_199E_8B00, 0x001A_7DDA_7113] as [UInt64])
    func sharedAddress(value: UInt64) throws {
        let rig = Self.rig()
        rig.answers[ReadBDADDR.opcode] = Self.address(value)
        rig.start()
        let information = try Self.information(rig)
        #expect(information.publicAddress == nil)
        #expect(information.ownAddress == Self.fallback)
        #expect(information.traits.contains(.sharesPublicAddress))
    }

    @Test("an event mask that is refused gives way to one with fewer events, and reports still come (A14)")
    func refusedMask() throws {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising, .connectionSubrating]
        rig.answers[LESetEventMask.opcode] = .complete([HCIStatus.invalidCommandParameters.rawValue])
        rig.start()
        #expect(rig.isReady)
        #expect(rig.count(of: LESetEventMask.opcode) == 3)
        let last = try #require(rig.commands.last { $0.opcode == LESetEventMask.opcode }).parameters
        #expect(last == [0x1F, 0, 0, 0, 0, 0, 0, 0])
        rig.submit(.radio(.scan(ScanRequest())))
        // Reports of the extended commands would be masked.
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.count(of: LESetExtendedScanEnable.opcode) == 0)
    }

    @Test("only known bits are set in the event mask, and a refusal leads to one with the bits of a reset (A15)")
    func eventMaskRefused() {
        let rig = HostRig()
        #expect(EventMasks.hci.rawValue >> 62 == 0)
        rig.answers[SetEventMask.opcode] = .silence
        rig.start()
        let refusal: [UInt8] = [HCIStatus.invalidCommandParameters.rawValue]
        rig.receive(CommandComplete(opcode: SetEventMask.opcode, returnParameters: refusal))
        rig.receive(CommandComplete(opcode: SetEventMask.opcode, returnParameters: [0]))
        #expect(rig.isReady)
        let masks = rig.commands.filter { $0.opcode == SetEventMask.opcode }
        #expect(masks.map(\.parameters).last == [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0, 0x20])
    }

    @Test("where LE has no buffers, those of BR/EDR are used (A17)")
    func sharedBuffers() throws {
        let rig = HostRig()
        rig.aclLength = 0
        rig.start()
        #expect(try Self.information(rig).aclDataLength == 1021)
    }

    @Test("a Realtek chip that names its read-only memory has no firmware (A19)")
    func missingFirmware() throws {
        let rig = HostRig()
        rig.answers[ReadLocalVersionInformation.opcode] = Self.version(0x005D, subversion: 0x8761)
        rig.start()
        #expect(try Self.information(rig).traits.contains(.lacksFirmware))
        let loaded = HostRig()
        loaded.answers[ReadLocalVersionInformation.opcode] = Self.version(0x005D, revision: 0xDFC6, subversion: 0xD922)
        loaded.start()
        let information = try Self.information(loaded)
        #expect(!information.traits.contains(.lacksFirmware))
        #expect(information.family == .realtek8761)
    }

    @Test("a controller of BR/EDR and LE learns that its host knows LE, if it has the command (A21)")
    func leHostSupport() {
        let dual: UInt64 = 1 << 38
        let rig = HostRig()
        rig.answers[ReadLocalSupportedFeatures.opcode] = Self.lmpFeatures(dual)
        rig.answers[ReadLocalSupportedCommands.opcode] = Self.commands(WriteLEHostSupport.opcode)
        rig.answers[WriteLEHostSupport.opcode] = .status(.commandDisallowed)
        rig.start()
        #expect(rig.isReady)
        #expect(rig.commands.first { $0.opcode == WriteLEHostSupport.opcode }?.parameters == [1, 0])
        let single = HostRig()
        single.answers[ReadLocalSupportedFeatures.opcode] = Self.lmpFeatures(dual | 1 << 37)
        single.answers[ReadLocalSupportedCommands.opcode] = Self.commands(WriteLEHostSupport.opcode)
        single.start()
        #expect(single.count(of: WriteLEHostSupport.opcode) == 0)
    }

    @Test("commands that lock up or disturb some controllers are never sent (A20) (A22) (A85) (A100) (A103) (A104)")
    func neverSent() {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.features = [.encryption, .extendedAdvertising, .dataPacketLengthExtension]
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        _ = rig.connect()
        let never: [UInt16] = [0x0C05, 0x0C0D, 0x0C5B, 0x100B, 0x0C33, 0x0C31, 0x0C35, 0x1004]
        #expect(rig.commands.allSatisfy { !never.contains($0.opcode.rawValue) })
    }

    @Test("a controller whose answer to what it supports is lost starts 2 s later (A101)")
    func lostAnswer() {
        let rig = HostRig()
        rig.answers[ReadLocalSupportedCommands.opcode] = .silence
        rig.start()
        rig.advance(by: .seconds(2))
        #expect(rig.isReady)
    }

    @Test("the LE event mask is set at every start (A102)")
    func maskEachTime() {
        let rig = HostRig()
        rig.start()
        rig.receive(HardwareError(hardwareCode: 1))
        #expect(rig.count(of: LESetEventMask.opcode) == 2)
    }

    @Test("a data length that is claimed and unknown leaves 27 octets (A99)")
    func dataLengthUnknown() throws {
        let rig = HostRig()
        rig.features = [.encryption, .dataPacketLengthExtension]
        rig.answers[LEReadMaximumDataLength.opcode] = .status(.unknownCommand)
        rig.answers[LEWriteSuggestedDefaultDataLength.opcode] = .status(.unknownCommand)
        rig.start()
        #expect(try Self.information(rig).maximumTransmitOctets == 27)
    }
}
