import BLEPackets
import BLESimulator
import Testing

@Suite("What a controller allows, and when")
struct CommandRulesTests {
    let air = SimulatedAir()
    let host: TestHost
    let nobody = DeviceAddress(value: 0x0000_0000_0099, kind: .public)

    init() { host = .ready(air, .numbered(1)) }

    // MARK: Command Disallowed

    @Test("scan parameters may not change while scanning is on (pain 1)")
    func scanParameters() {
        host.scan()
        #expect(host.perform(LESetScanParameters()) == .commandDisallowed)
        #expect(host.perform(LESetScanEnable(isEnabled: false)) == .success)
        #expect(host.perform(LESetScanParameters()) == .success)
    }

    @Test("a needless scan disable succeeds, or is refused where the controller is of that kind (pain 1)")
    func needlessDisable() {
        #expect(host.perform(LESetScanEnable(isEnabled: false)) == .success)
        #expect(host.perform(LESetAdvertisingEnable(isEnabled: false)) == .success)
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.refusesNeedlessDisable = true
        let strict = TestHost.ready(air, configuration)
        #expect(strict.perform(LESetScanEnable(isEnabled: false)) == .commandDisallowed)
        #expect(strict.perform(LESetAdvertisingEnable(isEnabled: false)) == .commandDisallowed)
    }

    @Test("a second create connection is refused (pain 2)")
    func secondConnection() {
        #expect(host.beginConnecting(to: nobody) == .success)
        #expect(host.beginConnecting(to: nobody) == .commandDisallowed)
    }

    @Test("cancelling without a pending connection is refused")
    func needlessCancel() {
        #expect(host.perform(LECreateConnectionCancel()) == .commandDisallowed)
    }

    @Test("the random address stays while scanning, initiating or advertising")
    func randomAddress() {
        let command = LESetRandomAddress(address: DeviceAddress(value: 0xC000_0000_0001, kind: .random))
        #expect(host.perform(command) == .success)
        host.scan()
        #expect(host.perform(command) == .commandDisallowed)
        host.perform(LESetScanEnable(isEnabled: false))
        host.beginConnecting(to: nobody)
        #expect(host.perform(command) == .commandDisallowed)
        host.perform(LECreateConnectionCancel())
        host.advertise()
        #expect(host.perform(command) == .commandDisallowed)
        host.perform(LESetAdvertisingEnable(isEnabled: false))
        #expect(host.perform(command) == .success)
    }

    @Test("advertising parameters stay while advertising; its data may change")
    func advertisingParameters() {
        host.advertise()
        #expect(host.perform(LESetAdvertisingParameters()) == .commandDisallowed)
        #expect(host.perform(LESetAdvertisingData(data: [2, 1, 4])) == .success)
    }

    @Test("the accept list stays while a scanner, an initiator or an advertiser uses it (pain 3)")
    func acceptList() {
        let add = LEAddDeviceToFilterAcceptList(address: nobody)
        let remove = LERemoveDeviceFromFilterAcceptList(address: nobody)
        func expectAll(_ status: HCIStatus, _ location: SourceLocation = #_sourceLocation) {
            #expect(host.perform(add) == status, sourceLocation: location)
            #expect(host.perform(remove) == status, sourceLocation: location)
            #expect(host.perform(LEClearFilterAcceptList()) == status, sourceLocation: location)
        }
        expectAll(.success)
        host.scan()
        expectAll(.success)
        host.perform(LESetScanEnable(isEnabled: false))
        host.perform(LESetScanParameters(filterPolicy: .acceptListOnly))
        host.perform(LESetScanEnable(isEnabled: true))
        expectAll(.commandDisallowed)
        host.perform(LESetScanEnable(isEnabled: false))
        host.perform(
            LECreateConnection(filterPolicy: .acceptList, parameters: TestHost.linkParameters))
        expectAll(.commandDisallowed)
        host.perform(LECreateConnectionCancel())
        host.advertise(filterPolicy: .connectionsFromAcceptList)
        expectAll(.commandDisallowed)
        host.perform(LESetAdvertisingEnable(isEnabled: false))
        expectAll(.success)
    }

    @Test("the accept list has a limit, and contains an entry once")
    func acceptListSize() {
        for number in 0..<8 as Range<UInt64> {
            for _ in 0..<2 {
                let address = DeviceAddress(value: number, kind: .random)
                #expect(host.perform(LEAddDeviceToFilterAcceptList(address: address)) == .success)
            }
        }
        #expect(host.perform(LEAddDeviceToFilterAcceptList(address: nobody)) == .memoryCapacityExceeded)
    }

    @Test("the resolving list stays while resolution is on and the radio works")
    func resolvingList() {
        let add = LEAddDeviceToResolvingList(
            peerIdentityAddress: nobody, peerIdentityResolvingKey: .zero, localIdentityResolvingKey: .zero)
        #expect(host.perform(add) == .success)
        #expect(host.perform(add) == .invalidCommandParameters)
        #expect(host.perform(LESetAddressResolutionEnable(isEnabled: true)) == .success)
        host.scan()
        #expect(host.perform(LEClearResolvingList()) == .commandDisallowed)
        #expect(host.perform(LESetAddressResolutionEnable(isEnabled: false)) == .commandDisallowed)
        host.perform(LESetScanEnable(isEnabled: false))
        #expect(host.perform(LERemoveDeviceFromResolvingList(peerIdentityAddress: nobody)) == .success)
        #expect(
            host.perform(LERemoveDeviceFromResolvingList(peerIdentityAddress: nobody))
                == .unknownConnectionIdentifier)
    }

    @Test("legacy and extended commands do not mix until a reset")
    func families() {
        let extended = LESetExtendedScanParameters(
            le1M: .init(interval: .milliseconds(60), window: .milliseconds(30)))
        #expect(host.perform(LESetScanParameters()) == .success)
        #expect(host.perform(extended) == .commandDisallowed)
        host.perform(Reset())
        #expect(host.perform(extended) == .success)
        #expect(host.perform(LESetScanParameters()) == .commandDisallowed)
        #expect(host.beginConnecting(to: nobody) == .commandDisallowed)
    }

    @Test("states that the controller does not support together are refused")
    func supportedStates() {
        var configuration = SimulatedControllerConfiguration.numbered(2)
        // Neither passive nor active scanning beside initiating.
        configuration.supportedStates &= ~(1 << 22 | 1 << 23)
        let other = TestHost.ready(air, configuration)
        other.scan()
        #expect(other.beginConnecting(to: nobody) == .commandDisallowed)
        other.perform(LESetScanEnable(isEnabled: false))
        #expect(other.beginConnecting(to: nobody) == .success)
        #expect(other.scan() == .commandDisallowed)
        #expect(other.query(LEReadSupportedStates())?.states == configuration.supportedStates)
    }

    // MARK: Parameters

    @Test("parameters outside their ranges are refused with 0x12")
    func invalid() {
        let zero = ScanInterval(rawValue: 3)
        let window = LESetScanParameters(interval: .milliseconds(10), window: .milliseconds(20))
        #expect(host.perform(LESetScanParameters(interval: zero, window: zero)) == .invalidCommandParameters)
        #expect(host.perform(window) == .invalidCommandParameters)
        #expect(
            host.perform(LESetAdvertisingParameters(minimumInterval: .milliseconds(10)))
                == .invalidCommandParameters)
        #expect(host.perform(LESetAdvertisingParameters(channels: [])) == .invalidCommandParameters)
        var parameters = TestHost.linkParameters
        parameters.supervisionTimeout = .milliseconds(50)
        #expect(
            host.perform(LECreateConnection(peerAddress: nobody, parameters: parameters)) == .invalidCommandParameters)
        parameters.supervisionTimeout = .milliseconds(100)
        parameters.latency = 4
        #expect(
            host.perform(LECreateConnection(peerAddress: nobody, parameters: parameters)) == .invalidCommandParameters)
        #expect(
            host.perform(LEWriteSuggestedDefaultDataLength(maximumTransmitOctets: 20)) == .invalidCommandParameters)
    }

    @Test("a command with too few or too many parameters is refused with 0x12")
    func length() throws {
        for packet in [[1, 0x0C, 0x20, 1, 1], [1, 0x0C, 0x20, 3, 1, 0, 0]] as [[UInt8]] {
            host.forget()
            host.send(packet)
            host.run(milliseconds: 1)
            guard case .commandComplete(let answer) = try #require(host.events.last) else {
                Issue.record("no answer")
                return
            }
            #expect(answer.returnParameters == [HCIStatus.invalidCommandParameters.rawValue])
        }
    }

    @Test("an own address that the controller does not have is refused with 0x12")
    func ownAddress() {
        var configuration = SimulatedControllerConfiguration()
        configuration.publicAddress = nil
        let other = TestHost.ready(air, configuration)
        #expect(other.query(ReadBDADDR())?.address.value == 0)
        #expect(other.scan() == .invalidCommandParameters)
        other.perform(LESetScanParameters(ownAddressType: .random))
        #expect(other.perform(LESetScanEnable(isEnabled: true)) == .invalidCommandParameters)
        other.perform(LESetRandomAddress(address: DeviceAddress(value: 0xC000_0000_0001, kind: .random)))
        #expect(other.perform(LESetScanEnable(isEnabled: true)) == .success)
    }

    @Test("commands for a link that does not exist are refused with 0x02")
    func unknownLink() {
        let handle = ConnectionHandle(rawValue: 0x77)
        let unknown = HCIStatus.unknownConnectionIdentifier
        #expect(host.perform(Disconnect(connectionHandle: handle)) == unknown)
        #expect(host.perform(ReadRSSI(connectionHandle: handle)) == unknown)
        #expect(host.perform(LEReadRemoteFeatures(connectionHandle: handle)) == unknown)
        #expect(host.perform(ReadRemoteVersionInformation(connectionHandle: handle)) == unknown)
        #expect(
            host.perform(LEConnectionUpdate(connectionHandle: handle, parameters: TestHost.linkParameters)) == unknown)
        #expect(host.perform(LESetDataLength(connectionHandle: handle)) == unknown)
        #expect(host.perform(LEReadPHY(connectionHandle: handle)) == unknown)
        #expect(
            host.perform(LESetPHY(connectionHandle: handle, preferences: .init(transmit: nil, receive: nil)))
                == unknown)
        #expect(host.perform(LEReadChannelMap(connectionHandle: handle)) == unknown)
    }

    // MARK: What is known

    @Test(
        "the bits of Read Local Supported Commands are correct",
        arguments: [SimulatedControllerConfiguration(), .core40(), .core42()])
    func supportedCommands(configuration: SimulatedControllerConfiguration) throws {
        let other = TestHost.ready(air, configuration)
        let commands = try #require(other.query(ReadLocalSupportedCommands())).commands
        var served = 0
        for opcode in Self.opcodes where opcode != HostNumberOfCompletedPackets.opcode {
            var writer = PacketWriter()
            HCICommandPacket(opcode: opcode, parameters: [UInt8](repeating: 0xFF, count: 200))
                .encodePacket(into: &writer)
            other.forget()
            other.send(writer.bytes)
            other.run(milliseconds: 1)
            let status: HCIStatus? =
                switch other.events.last {
                case .commandComplete(let answer): answer.returnParameters.first.map { HCIStatus(rawValue: $0) }
                case .commandStatus(let answer): answer.status
                default: nil
                }
            #expect((status != .unknownCommand) == commands.contains(opcode), "\(opcode.rawValue)")
            if commands.contains(opcode) { served += 1 }
        }
        #expect(served >= 38)
    }

    /// All that have a bit, and that are answered: Read Local Supported Commands itself has none that tells.
    private static let opcodes: [HCIOpcode] = {
        var all = SupportedCommands()
        var opcodes: [HCIOpcode] = []
        for group in [
            HCIOpcode.Group.linkControl, .controllerAndBaseband, .informationalParameters, .statusParameters,
            .leController,
        ] {
            for command in 0..<0x90 as Range<UInt16> {
                let opcode = HCIOpcode(group: group, command: command)
                all.insert(opcode)
                if all.contains(opcode) { opcodes.append(opcode) }
            }
        }
        return opcodes
    }()

    @Test("an unknown command is answered by Command Status 0x01, or Command Complete, as some controllers do")
    func unknown() {
        host.forget()
        host.send([1, 0x34, 0xFC, 0])
        host.run(milliseconds: 1)
        #expect(
            host.events
                == [.commandStatus(CommandStatus(status: .unknownCommand, opcode: HCIOpcode(rawValue: 0xFC34)))])
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.completesUnknownCommands = true
        let other = TestHost(air, configuration)
        other.send([1, 0x34, 0xFC, 0])
        other.run(milliseconds: 1)
        #expect(
            other.events
                == [.commandComplete(CommandComplete(opcode: HCIOpcode(rawValue: 0xFC34), returnParameters: [1]))])
    }

    @Test("bits may lie, as they do on real controllers")
    func lyingBits() {
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.falselyClaimedCommands = [ReadRSSI.opcode]
        configuration.unservedCommands = [LERand.opcode]
        let other = TestHost.ready(air, configuration)
        let commands = other.query(ReadLocalSupportedCommands())?.commands
        #expect(commands?.contains(ReadRSSI.opcode) == true && commands?.contains(LERand.opcode) == false)
        #expect(other.perform(ReadRSSI(connectionHandle: ConnectionHandle(rawValue: 1))) == .unknownCommand)
        #expect(other.perform(LERand()) == .unknownCommand)
    }

    @Test("a controller without extended advertising does not know its commands")
    func core40() {
        let old = TestHost.ready(air, .core40())
        #expect(old.query(LEReadLocalSupportedFeatures())?.features == .encryption)
        #expect(old.query(ReadLocalVersionInformation())?.hciVersion == .core40)
        #expect(old.perform(LEReadNumberOfSupportedAdvertisingSets()) == .unknownCommand)
        #expect(old.perform(LEReadMaximumDataLength()) == .unknownCommand)
        #expect(old.query(LEReadBufferSize())?.aclDataPacketLength == 27)
    }

    @Test("shared buffers are reported only by Read Buffer Size")
    func sharedBuffers() {
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.sharesBuffers = true
        configuration.aclDataLength = 1021
        let other = TestHost.ready(air, configuration)
        #expect(other.query(LEReadBufferSize()) == .init())
        #expect(other.query(ReadBufferSize())?.aclDataPacketLength == 1021)
    }

    // MARK: Masks and credits

    @Test("after a reset LE events are masked, until the host asks for them")
    func masks() {
        let other = TestHost(air, .numbered(2))
        other.perform(Reset())
        host.advertise()
        other.scan()
        other.run(milliseconds: 300)
        #expect(other.legacyReports.isEmpty)
        other.perform(SetEventMask(mask: [.leMeta]))
        other.run(milliseconds: 300)
        #expect(!other.legacyReports.isEmpty)
        other.perform(LESetEventMask(mask: [.connectionComplete]))
        other.forget()
        other.run(milliseconds: 300)
        #expect(other.legacyReports.isEmpty)
    }

    @Test("Connection Complete comes enhanced only where the host has asked for that")
    func connectionEvents() {
        let other = TestHost(air, .numbered(2))
        other.perform(Reset())
        other.perform(SetEventMask(mask: EventMask(rawValue: .max)))
        host.advertise()
        other.beginConnecting(to: SimulatedControllerConfiguration.address(1))
        other.run(milliseconds: 300)
        #expect(
            other.events.contains {
                if case .leConnectionComplete(let event) = $0 { event.status == .success } else { false }
            })
        #expect(other.lastLink == nil)
    }

    @Test("answers give the credits back, and commands beyond them are counted")
    func credits() {
        #expect(air.statistics(of: host.controller).commandsWithoutCredit == 0)
        host.forget()
        host.send(LERand())
        host.send(LERand())
        host.run(milliseconds: 1)
        let credits = host.events.compactMap { event -> UInt8? in
            if case .commandComplete(let answer) = event { return answer.commandCredits }
            return nil
        }
        #expect(credits == [0, 1])
        #expect(air.statistics(of: host.controller).commandsWithoutCredit == 1)
    }
}
