import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that claim one family of commands, and know the other.
@Suite("The family of commands that works")
struct CommandFamilyTests {
    private static func extended(_ change: (inout HostConfiguration) -> Void = { _ in }) -> HostRig {
        var configuration = HostConfiguration()
        change(&configuration)
        let rig = HostRig(configuration: configuration)
        rig.features = [.encryption, .extendedAdvertising]
        return rig
    }

    private static func learned(_ rig: HostRig) -> ControllerExperience? {
        rig.events.compactMap { if case .controllerLearned(let it) = $0 { it } else { nil } }.last
    }

    @Test("extended scanning that is claimed and unknown gives way to the legacy commands (A7) (A23)")
    func scan() {
        let rig = Self.extended()
        for opcode in [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode] {
            rig.answers[opcode] = .status(.unknownCommand)
        }
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.results(of: scan).isEmpty)
        rig.receive(HostRig.report())
        #expect(rig.discoveries.count == 1)
        #expect(Self.learned(rig)?.found == .scansWithLegacyCommands)
        #expect(rig.count(of: Reset.opcode) == 1)
    }

    @Test("what was learned is used from the start by the next engine (A7)")
    func remembered() {
        let rig = Self.extended { $0.experience = ControllerExperience(found: .scansWithLegacyCommands) }
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.count(of: LESetExtendedScanParameters.opcode) == 0)
    }

    @Test("extended connecting that is claimed and unknown gives way to the legacy command (A45)")
    func connect() {
        let rig = Self.extended()
        rig.answers[LEExtendedCreateConnection.opcode] = .status(.unknownCommand)
        rig.start()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.results(of: connect).isEmpty)
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        #expect(rig.links.count == 1)
    }

    @Test("where families must not be mixed, a Reset comes first, and everything goes on with one of them (A7)")
    func mixing() {
        let rig = Self.extended()
        rig.start()
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        #expect(rig.count(of: LESetExtendedAdvertisingEnable.opcode) == 1)
        rig.answers[LESetExtendedScanParameters.opcode] = .status(.unknownCommand)
        rig.answers[LESetScanParameters.opcode] = .status(.commandDisallowed)
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.count(of: Reset.opcode) == 2, "the families must not be mixed")
        rig.answers[LESetScanParameters.opcode] = nil
        rig.advance(by: .seconds(2))
        #expect(rig.results(of: scan).isEmpty)
        #expect(rig.count(of: LESetScanEnable.opcode) >= 1)
        #expect(rig.count(of: LESetAdvertisingEnable.opcode) == 1)
    }

    @Test("legacy scanning that is never answered gives way to the extended commands again (A26)")
    func forwardAgain() {
        let rig = Self.extended { $0.experience = ControllerExperience(found: .scansWithLegacyCommands) }
        rig.answers[LESetScanEnable.opcode] = .silence
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        rig.advance(by: .seconds(3))
        #expect(rig.results(of: scan).isEmpty)
        #expect(rig.count(of: LESetExtendedScanEnable.opcode) == 1)
        #expect(Self.learned(rig) == nil, "silence is no proof, and is not stored")
    }

    @Test("a controller that knows neither family ends the scan with the command's name, after one change (A7)")
    func neither() {
        let rig = Self.extended()
        for opcode in [LESetExtendedScanParameters.opcode, LESetScanParameters.opcode] {
            rig.answers[opcode] = .status(.unknownCommand)
        }
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        rig.advance(by: .seconds(60))
        #expect(rig.results(of: scan) == [.failure(.controller(.unknownCommand, LESetScanParameters.opcode))])
    }

    @Test("advertising data that the extended command refuses go out with the legacy one (A24)")
    func advertisingData() {
        let rig = Self.extended()
        rig.answers[LESetExtendedAdvertisingData.opcode] = .complete([HCIStatus.unspecifiedError.rawValue])
        rig.start()
        let advertising = rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        rig.advance(by: .seconds(5))
        #expect(rig.results(of: advertising).isEmpty)
        #expect(rig.count(of: LESetAdvertisingEnable.opcode) == 1)
    }

    @Test("beside the kernel's stack the other family is tried once before listening (A40)")
    func sharedController() {
        let rig = Self.extended { $0.ownership = .shared }
        rig.answers[LESetExtendedScanParameters.opcode] = .status(.commandDisallowed)
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
    }

    @Test("a scan that is refused while a link is open goes on when the link has ended (A25)")
    func scanWithLink() {
        let rig = Self.extended()
        rig.start()
        let link = rig.connect()
        rig.answers[LESetExtendedScanEnable.opcode] = .complete([HCIStatus.commandDisallowed.rawValue])
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        rig.advance(by: .seconds(120))
        #expect(rig.results(of: scan).isEmpty, "the wish stays")
        #expect(rig.count(of: LESetExtendedScanEnable.opcode) < 200, "it is not tried all the time")
        rig.answers[LESetExtendedScanEnable.opcode] = nil
        rig.forget()
        rig.receive(DisconnectionComplete(connectionHandle: link.handle, reason: .remoteUserTerminatedConnection))
        #expect(rig.count(of: LESetExtendedScanEnable.opcode) == 1)
        #expect(rig.results(of: scan).isEmpty)
    }

    @Test("a refused random address is set again, then the public one scans (A39)")
    func randomAddressForScan() throws {
        let rig = Self.extended { $0.ownAddress = .random(DeviceAddress(value: 0xC0FF_EE12_3456, kind: .random)) }
        rig.start()
        rig.answers[LESetExtendedScanEnable.opcode] = .complete([HCIStatus.invalidCommandParameters.rawValue])
        rig.forget()
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.count(of: LESetRandomAddress.opcode) == 1)
        let last = try #require(rig.commands.last { $0.opcode == LESetExtendedScanParameters.opcode })
        #expect(last.parameters.first == OwnAddressType.public.rawValue)
    }

    @Test(
        "a connection that is refused while scanning is tried without the scan (A46) (A97)",
        arguments: [HCIStatus.commandDisallowed, .rejectedLimitedResources, .unspecifiedError])
    func connectWhileScanning(status: HCIStatus) {
        let rig = Self.extended()
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.answers[LEExtendedCreateConnection.opcode] = .status(status)
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.answers[LEExtendedCreateConnection.opcode] = nil
        rig.advance(by: .seconds(5))
        rig.receive(
            LEExtendedAdvertisingReport(reports: [
                .init(
                    eventType: .init(rawValue: 0x13), address: HostRig.peer, primaryPHY: .le1M, rssi: -40,
                    data: [2, 1, 6])
            ]))
        rig.advance(by: .seconds(5))
        #expect(rig.results(of: connect).isEmpty)
        #expect(rig.count(of: LEExtendedCreateConnection.opcode) >= 2)
    }

    @Test("a controller that is full of links keeps the wish until one of them ends (A96)")
    func full() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.answers[LECreateConnection.opcode] = .status(.connectionLimitExceeded)
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(9)))))
        rig.advance(by: .seconds(300))
        #expect(rig.results(of: connect).isEmpty)
        rig.answers[LECreateConnection.opcode] = nil
        rig.forget()
        rig.receive(DisconnectionComplete(connectionHandle: .init(rawValue: 0x40), reason: .connectionTimeout))
        rig.advance(by: .seconds(5))
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
    }

    @Test("a status that comes 10 s late costs no link, and is that of its attempt (A98)")
    func lateStatus() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.answers[LECreateConnection.opcode] = .silence
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(9)))))
        rig.advance(by: .seconds(9))
        #expect(rig.counters.controllerResets == 0)
        #expect(rig.disconnections.isEmpty)
        rig.receive(CommandStatus(status: .success, commandCredits: 1, opcode: LECreateConnection.opcode))
        rig.receive(rig.connectionComplete(HostRig.peer(9), handle: 0x41))
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x41)
        #expect(rig.links.count == 1)
        rig.advance(by: .seconds(30))
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("a controller that does not answer anything else meanwhile is recovered (A98)")
    func lateAndDead() {
        let rig = HostRig()
        rig.start()
        rig.answers[LECreateConnection.opcode] = .silence
        rig.answers[ReadLocalVersionInformation.opcode] = .silence
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(9)))))
        rig.advance(by: .seconds(5))
        #expect(rig.counters.controllerResets == 1)
    }

    @Test("a wrong “no” in the supported states does not keep links and scan apart (A47)")
    func wrongStates() {
        var information = ControllerInformation()
        information.supportedStates = 1
        #expect(!information.canInitiateWhileScanning)
        let rig = HostRig(configuration: HostConfiguration())
        rig.supportedStates = 1
        var version = PacketWriter()
        ReadLocalVersionInformation.ReturnParameters(
            hciVersion: .core50, lmpVersion: .core50, manufacturer: CompanyIdentifier(rawValue: 0x001D)
        ).encode(into: &version)
        rig.answers[ReadLocalVersionInformation.opcode] = .complete(version.bytes)
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
    }
}
