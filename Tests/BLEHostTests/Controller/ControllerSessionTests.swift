import BLEPackets
import Testing

@testable import BLEHost

@Suite("Controller session")
struct ControllerSessionTests {
    @Test("a controller is reset, asked what it can do and given its masks, then it is ready")
    func startsUp() {
        let rig = HostRig()
        rig.start()
        #expect(rig.isReady)
        #expect(rig.commands.first?.opcode == Reset.opcode)
        #expect(rig.count(of: SetEventMask.opcode) == 1)
        #expect(rig.count(of: LESetEventMask.opcode) == 1)
        #expect(rig.events.contains { if case .ready = $0 { true } else { false } })
    }

    @Test("the event mask enables every event that the engine handles")
    func eventMask() throws {
        let rig = HostRig()
        rig.features = [
            .extendedAdvertising, .dataPacketLengthExtension, .le2MPHY, .connectionParametersRequestProcedure,
        ]
        rig.start()
        let command = try #require(rig.commands.first { $0.opcode == LESetEventMask.opcode })
        var reader = PacketReader(command.parameters.span.bytes)
        let mask = try LESetEventMask(decoding: &reader).mask
        #expect(mask.isSuperset(of: .afterReset))
        #expect(mask.contains(.extendedAdvertisingReport))
        #expect(mask.contains(.dataLengthChange))
        #expect(mask.contains(.phyUpdateComplete))
        #expect(mask.contains(.remoteConnectionParameterRequest))
        #expect(mask.contains(.enhancedConnectionComplete), "required with extended advertising (Core 5.3, C24)")
    }

    @Test("an optional command that is never answered is skipped, and the next follows after 2 s (pain 6)")
    func optionalTimeout() {
        let rig = HostRig()
        rig.answers[LEReadSupportedStates.opcode] = .silence
        rig.start()
        #expect(!rig.isReady)
        rig.advance(by: .milliseconds(2001))
        #expect(rig.isReady)
        #expect(rig.counters.commandTimeouts == 1)
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("a required command that is never answered climbs the ladder to its end, each step counted (pain 6)")
    func ladder() {
        let rig = HostRig()
        rig.answers[LEReadBufferSize.opcode] = .silence
        rig.start()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.advance(by: .milliseconds(2001))
        #expect(rig.counters.controllerResets == 1)
        rig.advance(by: .milliseconds(2001))
        #expect(rig.events.contains(.reopenTransport(resetsDevice: false)))
        rig.closeTransport()
        #expect(rig.results(of: connect).isEmpty, "an intent survives the reopening")
        rig.start()
        rig.advance(by: .milliseconds(2001))
        #expect(rig.events.contains(.reopenTransport(resetsDevice: true)))
        rig.closeTransport()
        #expect(rig.results(of: connect).isEmpty)
        rig.start()
        rig.advance(by: .milliseconds(2001))
        #expect(rig.events.contains(.failed(.controllerFault(.unanswered(LEReadBufferSize.opcode)))))
        #expect(rig.results(of: connect) == [.failure(.controllerFault(.unanswered(LEReadBufferSize.opcode)))])
    }

    @Test("a hardware error resets the controller and brings scan and pending connection back (pain 6)")
    func hardwareError() {
        let rig = HostRig()
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.forget()
        rig.receive(HardwareError(hardwareCode: 0x42))
        #expect(rig.isReady)
        #expect(rig.counters.hardwareErrors == 1)
        #expect(rig.count(of: Reset.opcode) == 1)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
    }

    @Test("packets that the transport lost reset the controller and bring scan and pending connection back (A86)")
    func packetsLost() {
        let rig = HostRig()
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.forget()
        rig.apply(.packetsLost)
        #expect(rig.isReady)
        #expect(rig.events.first == .recovering(.reset))
        #expect(rig.count(of: Reset.opcode) == 1)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
        #expect(rig.results(of: connect).isEmpty)
        for _ in 0..<20 {
            rig.apply(.packetsLost)
            guard !rig.isReady else { continue }
            rig.closeTransport()
            rig.start()
        }
        #expect(
            rig.events.contains(.failed(.controllerFault(.packetsLost))), "a line without end of losses is given up")
        #expect(rig.results(of: connect) == [.failure(.controllerFault(.packetsLost))])
    }

    @Test("lost packets change nothing while no controller is in use")
    func packetsLostWithoutController() {
        let rig = HostRig()
        rig.apply(.packetsLost)
        #expect(rig.commands.isEmpty)
        #expect(rig.events.isEmpty)
        rig.start()
        #expect(rig.isReady)
    }

    @Test("a controller that fails again and again after each reset is given up")
    func fallsAgainAndAgain() {
        let rig = HostRig()
        rig.start()
        for _ in 0..<20 {
            rig.receive(HardwareError(hardwareCode: 1))
            guard !rig.isReady else { continue }
            rig.closeTransport()
            rig.start()
        }
        #expect(rig.events.contains(.failed(.controllerFault(.hardwareError(1)))))
        #expect(rig.counters.controllerResets == 2)
        #expect(rig.counters.transportReopenings == 4)
    }

    @Test("a client's command that is never answered ends with a time-out, once, and the next is sent")
    func clientCommandTimeout() {
        let rig = HostRig()
        rig.start()
        let opcode = HCIOpcode(group: .vendorSpecific, command: 1)
        rig.answers[opcode] = .silence
        let first = rig.submit(.sendHCICommand(opcode: opcode, parameters: [1, 2]))
        let second = rig.submit(.sendHCICommand(opcode: LERand.opcode, parameters: []))
        #expect(rig.count(of: LERand.opcode) == 0)
        rig.advance(by: .seconds(3))
        #expect(rig.results(of: first) == [.failure(.commandTimeout(opcode))])
        #expect(rig.results(of: second).count == 1)
    }

    @Test("no command is sent while the controller gives no credit")
    func credits() {
        let rig = HostRig()
        rig.start()
        let opcode = HCIOpcode(group: .vendorSpecific, command: 1)
        rig.answers[opcode] = .silence
        rig.submit(.sendHCICommand(opcode: opcode, parameters: []))
        rig.submit(.sendHCICommand(opcode: LERand.opcode, parameters: []))
        rig.receive(CommandComplete(commandCredits: 0, opcode: opcode, returnParameters: [0]))
        #expect(rig.count(of: LERand.opcode) == 0)
        rig.receive(CommandComplete(commandCredits: 1, opcode: HCIOpcode(rawValue: 0), returnParameters: []))
        #expect(rig.count(of: LERand.opcode) == 1)
    }

    @Test("a shared controller is neither reset nor masked, and foreign events do no harm")
    func sharedController() {
        let rig = HostRig(configuration: HostConfiguration(ownership: .shared))
        rig.start()
        #expect(rig.isReady)
        for opcode in [Reset.opcode, SetEventMask.opcode, LESetEventMask.opcode, LESetRandomAddress.opcode] {
            #expect(rig.count(of: opcode) == 0)
        }
        rig.forget()
        rig.receive(rig.connectionComplete())
        rig.receive(CommandComplete(opcode: Reset.opcode, returnParameters: [0]))
        #expect(rig.links.isEmpty)
        #expect(rig.commands.isEmpty)
    }

    @Test(
        "on a shared controller a link is the link layer's alone: no ATT goes out, and GATT is refused with the reason")
    func sharedLink() throws {
        let rig = HostRig(configuration: HostConfiguration(ownership: .shared))
        rig.start()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(rig.results(of: connect).count == 1)
        let link = try #require(rig.links.first?.id)
        rig.receive(frame: [0x02, 0x00, 0x02], handle: 0x40)
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        #expect(rig.results(of: read) == [.failure(.invalidRequest(.notAvailableOnSharedController))])
        #expect(rig.data.isEmpty)
        let rssi = rig.submit(.link(link, .procedure(.readRSSI)))
        #expect(rig.results(of: rssi) == [.success(.rssi(-61))])
    }

    @Test("the random address is set before anything uses it, and a controller without a public one gets the fallback")
    func randomAddress() throws {
        let fallback = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
        let rig = HostRig(configuration: HostConfiguration(ownAddress: .automatic(fallback: fallback)))
        var none = PacketWriter()
        ReadBDADDR.ReturnParameters(address: DeviceAddress(value: 0, kind: .public)).encode(into: &none)
        rig.answers[ReadBDADDR.opcode] = .complete(none.bytes)
        rig.start()
        #expect(rig.count(of: LESetRandomAddress.opcode) == 1)
        rig.submit(.radio(.scan(ScanRequest())))
        let parameters = try #require(rig.commands.first { $0.opcode == LESetScanParameters.opcode })
        #expect(parameters.parameters[5] == OwnAddressType.random.rawValue)
    }

    @Test("the socket closing ends every operation once, at whatever moment it closes (pain 6)", arguments: 0..<40)
    func transportCloses(after count: Int) {
        let rig = HostRig()
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        let link = rig.connect()
        var operations = [scan]
        operations.append(rig.submit(.link(link, .gatt(.discoverServices(uuids: [])))))
        operations.append(rig.submit(.link(link, .procedure(.readRSSI))))
        operations.append(rig.submit(.link(link, .procedure(.readRemoteVersion))))
        operations.append(rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(7))))))
        for index in 0..<count { rig.receive(HostRig.report(HostRig.peer(100 + index))) }
        rig.closeTransport()
        rig.closeTransport()
        rig.advance(by: .seconds(100))
        for operation in operations { #expect(rig.results(of: operation).count == 1) }
        #expect(rig.disconnections == [.controllerLost])
        #expect(rig.nextDeadline == nil)
    }

    @Test("a malformed packet costs that packet and is reported")
    func malformed() {
        let rig = HostRig()
        rig.start()
        rig.receive([])
        rig.receive([0x04, 0x3E])
        rig.receive([0x04, 0x3E, 0x05, 0x02])
        rig.receive([0x77, 0x00])
        rig.receive([0x02, 0x40, 0x00, 0xFF, 0xFF, 0x00])
        #expect(rig.counters.malformedPackets == 5)
        #expect(rig.isReady)
    }

    @Test("stop ends scan, connect attempt and links, then reports it once")
    func stops() {
        let rig = HostRig()
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        let link = rig.connect()
        let pending = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        rig.forget()
        let stop = rig.submit(.stop)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 1)
        #expect(rig.commands.contains { $0.opcode == Disconnect.opcode && $0.parameters == [0x40, 0, 0x13] })
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.receive(
            DisconnectionComplete(connectionHandle: link.handle, reason: .connectionTerminatedByLocalHost))
        #expect(rig.results(of: stop) == [.success(.done)])
        #expect(rig.results(of: scan) == [.failure(.cancelled)])
        #expect(rig.results(of: pending) == [.failure(.cancelled)])
        #expect(rig.events.contains(.stopped))
    }

    @Test("the database can be changed while the engine stops, and afterwards: it outlives the controller (SPEC PER-1)")
    func databaseOfStoppedEngine() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.submit(.stop)
        let name = rig.submit(.server(.setDeviceName("Door")))
        #expect(rig.results(of: name) == [.success(.done)])
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.results(of: scan) == [.failure(.invalidRequest(.stopped))])
    }

    @Test("what a client that has gone demanded of pairings ends while the engine stops (SPEC SEC-1)")
    func securityOfStoppedEngine() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        let listening = rig.submit(.channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: false)))
        #expect(rig.results(of: listening).count == 1)
        rig.submit(.stop)
        let commands: [HostCommand] = [
            .security(.setSecurity(SecuritySettings())), .security(.setOutOfBandData(HostRig.peer, nil)),
            .channel(.stopListening(spsm: 0x80)),
        ]
        for command in commands {
            let operation = rig.submit(command)
            #expect(rig.results(of: operation) == [.success(.done)], "\(command)")
        }
    }

    @Test("an engine whose transport ended while it stopped starts on the next one", arguments: [false, true])
    func opensAfterLoss(isStopped: Bool) {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.answers[Disconnect.opcode] = .silence
        let stop = rig.submit(.stop)
        if isStopped { rig.advance(by: .seconds(5)) }
        rig.closeTransport()
        #expect(rig.results(of: stop) == [.success(.done)])
        // Once more, without a transport.
        #expect(rig.results(of: rig.submit(.stop)) == [.success(.done)])
        rig.start()
        #expect(rig.isReady)
    }

    @Test("an engine that is stopped while its transport is opened again starts on it", arguments: [false, true])
    func stopsWhileReopening(isClosedFirst: Bool) {
        let rig = HostRig()
        rig.answers[LEReadBufferSize.opcode] = .silence
        rig.start()
        for _ in 0..<2 { rig.advance(by: .milliseconds(2001)) }
        #expect(rig.events.contains(.reopenTransport(resetsDevice: false)))
        if isClosedFirst { rig.closeTransport() }
        #expect(rig.results(of: rig.submit(.stop)) == [.success(.done)])
        if !isClosedFirst { rig.closeTransport() }
        rig.answers[LEReadBufferSize.opcode] = nil
        rig.start()
        #expect(rig.isReady)
    }

    @Test("stop ends a scan that the controller was just beginning, and waits for no deadline")
    func stopsWhatJustBegins() {
        for pending in [LESetScanParameters.opcode, LESetScanEnable.opcode] {
            let rig = HostRig()
            rig.start()
            rig.answers[pending] = .silence
            let scan = rig.submit(.radio(.scan(ScanRequest())))
            let stop = rig.submit(.stop)
            #expect(rig.results(of: scan) == [.failure(.cancelled)])
            #expect(rig.results(of: stop).isEmpty)
            rig.answers[pending] = nil
            rig.receive(CommandComplete(opcode: pending, returnParameters: [0]))
            #expect(rig.results(of: stop) == [.success(.done)])
            #expect(rig.commands.last { $0.opcode == LESetScanEnable.opcode }?.parameters.first != 1)
        }
    }

    @Test("stop ends an attempt to connect that the controller was just beginning")
    func stopsAnAttemptThatJustBegins() {
        let rig = HostRig()
        rig.start()
        rig.answers[LECreateConnection.opcode] = .silence
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        let stop = rig.submit(.stop)
        rig.receive(CommandStatus(status: .success, opcode: LECreateConnection.opcode))
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 1)
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        #expect(rig.results(of: stop) == [.success(.done)])
    }

    @Test("stop ends within bounded time though the controller answers nothing")
    func stopsAgainstSilence() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.answers[Disconnect.opcode] = .silence
        let stop = rig.submit(.stop)
        rig.advance(by: .seconds(5))
        #expect(rig.results(of: stop) == [.success(.done)])
    }
}
