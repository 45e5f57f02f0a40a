import BLEPackets
import BLESecurity
import TestSupport
import Testing

@testable import BLEHost

/// Controllers that report links late, twice, or with other events than they should.
@Suite("Controllers that report links oddly")
struct OddLinkReportTests {
    private static let handle = ConnectionHandle(rawValue: 0x40)

    private func started(
        _ found: ControllerTraits = [], _ configuration: HostConfiguration = HostConfiguration(),
        change: (HostRig) -> Void = { _ in }
    ) -> HostRig {
        var configuration = configuration
        configuration.experience.found = found
        let rig = HostRig(configuration: configuration)
        change(rig)
        rig.start()
        rig.forget()
        return rig
    }

    private func enhanced(
        _ peer: DeviceAddress = HostRig.peer, role: ConnectionRole = .central
    )
        -> LEEnhancedConnectionComplete
    {
        LEEnhancedConnectionComplete(
            status: .success, connectionHandle: Self.handle, role: role, peerAddress: peer,
            localResolvableAddress: nil, peerResolvableAddress: nil, interval: .milliseconds(30), latency: 0,
            supervisionTimeout: .milliseconds(5000))
    }

    private func central(_ peer: DeviceAddress = HostRig.peer) -> LEConnectionComplete {
        LEConnectionComplete(
            status: .success, connectionHandle: Self.handle, role: .peripheral, peerAddress: peer,
            interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000))
    }

    private func ended(_ reason: HCIStatus = .remoteUserTerminatedConnection) -> DisconnectionComplete {
        DisconnectionComplete(connectionHandle: Self.handle, reason: reason)
    }

    private func learned(_ rig: HostRig) -> ControllerTraits {
        rig.events.reduce(into: []) {
            if case .controllerLearned(let experience) = $1 { $0.formUnion(experience.found) }
        }
    }

    @Test("data 20 ms before the report of their link reach it, and the controller is known to do so (A49)")
    func dataBeforeTheLink() {
        let rig = started()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(frame: [0x02, 0x00, 0x02], handle: 0x40)
        rig.advance(by: .milliseconds(20))
        rig.receive(rig.connectionComplete())
        #expect(rig.data.contains { $0.dropFirst(8).first == 0x03 }, "the peer's request was answered")
        #expect(learned(rig) == .sendsDataBeforeEvents)
        #expect(rig.counters.strayPackets == 0)
    }

    @Test("a handle that is given again without the end of its link ends the old link (A59)")
    func handleInUse() {
        let rig = started()
        let first = rig.connect(HostRig.peer(1))
        let second = rig.connect(HostRig.peer(2))
        #expect(first != second)
        let read = rig.submit(.link(first, .gatt(.read(AttributeHandle(rawValue: 3)))))
        #expect(rig.results(of: read) == [.failure(.notConnected)])
        rig.submit(.link(second, .gatt(.read(AttributeHandle(rawValue: 3)))))
        #expect(rig.data.count == 1)
    }

    @Test("an end that may be that of the link before is believed, and counted (A60)")
    func endedTwice() {
        let rig = started()
        _ = rig.connect(HostRig.peer(1))
        rig.receive(ended())
        _ = rig.connect(HostRig.peer(2))
        rig.advance(by: .milliseconds(5))
        let before = rig.counters.unexpectedEvents
        rig.receive(ended())
        #expect(rig.disconnections == [.controller(.remoteUserTerminatedConnection)])
        #expect(rig.counters.unexpectedEvents == before + 1)
    }

    @Test("a link whose end is never reported is free after its supervision time-out and a reserve (A61)")
    func neverEnds() {
        let rig = started()
        let link = rig.connect()
        let end = rig.submit(.link(link, .disconnect))
        rig.advance(by: .seconds(9))
        #expect(rig.results(of: end).isEmpty)
        rig.advance(by: .seconds(2))
        #expect(rig.results(of: end) == [.success(.done)])
        #expect(rig.disconnections == [.releasedByClient])
    }

    @Test("a peer that is marked as an identity although nothing was resolved is the same peer (A63)")
    func marked() {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete(HostRig.peer.asIdentity))
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        #expect(rig.results(of: connect).count == 1)
        let again = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.results(of: again).count == 1 && rig.links.count == 1)
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
    }

    @Test("a link that is reported by both events is one link, as the central (A64)", arguments: [true, false])
    func reportedTwice(isPlainFirst: Bool) {
        for isOpen in [false, true] {
            let rig = started()
            rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
            if isPlainFirst { rig.receive(rig.connectionComplete()) } else { rig.receive(enhanced()) }
            if isOpen { rig.receive(frame: [0x03, 23, 0], handle: 0x40) }
            rig.advance(by: .milliseconds(3))
            if isPlainFirst { rig.receive(enhanced()) } else { rig.receive(rig.connectionComplete()) }
            if !isOpen { rig.receive(frame: [0x03, 23, 0], handle: 0x40) }
            #expect(rig.links.count == 1 && rig.disconnections.isEmpty)
            #expect(rig.counters.unexpectedEvents == 1)
            #expect(rig.count(of: LEReadRemoteFeatures.opcode) == 1)
        }
    }

    @Test("a link that is reported by both events is one link, as the peripheral (A64)")
    func reportedTwiceAsPeripheral() {
        let rig = started()
        rig.receive(central())
        rig.advance(by: .milliseconds(3))
        rig.receive(enhanced(role: .peripheral))
        let links = rig.events.count { if case .centralConnected = $0 { true } else { false } }
        let ends = rig.events.count { if case .centralDisconnected = $0 { true } else { false } }
        #expect(links == 1 && ends == 0)
        // Later it is another link.
        rig.advance(by: .seconds(1))
        rig.receive(central())
        #expect(rig.events.count { if case .centralDisconnected = $0 { true } else { false } } == 1)
    }

    @Test("a controller with extended advertising and without privacy may report links by the enhanced event (A65)")
    func enhancedOnly() throws {
        for (adapts, isThere) in [(true, true), (false, false)] {
            var configuration = HostConfiguration()
            configuration.adaptsToController = adapts
            let rig = HostRig(configuration: configuration)
            rig.features = [.encryption, .extendedAdvertising]
            rig.start()
            let mask = try #require(rig.commands.last { $0.opcode == LESetEventMask.opcode }?.parameters)
            #expect((mask[1] & 0x02 != 0) == isThere)
            rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
            rig.receive(enhanced())
            rig.receive(frame: [0x03, 23, 0], handle: 0x40)
            #expect(rig.links.count == 1)
        }
    }

    @Test("Command Complete in place of Command Status, and the other way round, are answers (A66)")
    func otherAnswer() {
        let rig = started([]) {
            $0.answers[LECreateConnection.opcode] = .complete([0])
            $0.answers[LESetScanEnable.opcode] = .status(.success)
            $0.answers[Disconnect.opcode] = .complete([0])
        }
        rig.submit(.radio(.scan(ScanRequest())))
        let link = rig.connect()
        let end = rig.submit(.link(link, .disconnect))
        rig.receive(ended())
        #expect(rig.results(of: end) == [.success(.done)])
        rig.receive(HostRig.report())
        #expect(rig.discoveries.count == 1)
        rig.advance(by: .seconds(5))
        #expect(rig.counters.commandTimeouts == 0)
    }

    @Test("a Disconnect that is refused keeps the link: it is ended again later, then the controller is reset (A95)")
    func disconnectRefused() {
        for (isRepeatedInVain, status) in [
            (false, HCIStatus.commandDisallowed), (true, .commandDisallowed), (true, .unspecifiedError),
            (true, .invalidCommandParameters),
        ] {
            let rig = started([]) { $0.answers[Disconnect.opcode] = .status(status) }
            let link = rig.connect()
            let end = rig.submit(.link(link, .disconnect))
            #expect(rig.results(of: end).isEmpty)
            if !isRepeatedInVain { rig.answers[Disconnect.opcode] = .status(.success) }
            rig.advance(by: .seconds(9))
            #expect(rig.count(of: Disconnect.opcode) == 1)
            rig.advance(by: .seconds(2))
            #expect(rig.count(of: Disconnect.opcode) == 2)
            if isRepeatedInVain {
                #expect(rig.count(of: Reset.opcode) == 1)
            } else {
                #expect(rig.count(of: Reset.opcode) == 0)
                rig.receive(ended(.connectionTerminatedByLocalHost))
            }
            #expect(rig.disconnections == [.releasedByClient])
            #expect(rig.results(of: end) == [.success(.done)])
        }
    }

    @Test("a Disconnect that is accepted the second time and then leads to nothing resets the controller (A95)")
    func disconnectInVain() {
        let rig = started([]) { $0.answers[Disconnect.opcode] = .status(.commandDisallowed) }
        let end = rig.submit(.link(rig.connect(), .disconnect))
        rig.answers[Disconnect.opcode] = .status(.success)
        rig.advance(by: .seconds(25))
        #expect(rig.count(of: Reset.opcode) == 1)
        #expect(rig.results(of: end) == [.success(.done)])
    }

    @Test("a Disconnect for a link that the controller does not know ends the link at once (A95)")
    func disconnectUnknown() {
        let rig = started([]) { $0.answers[Disconnect.opcode] = .status(.unknownConnectionIdentifier) }
        let end = rig.submit(.link(rig.connect(), .disconnect))
        #expect(rig.results(of: end) == [.success(.done)])
        #expect(rig.disconnections == [.releasedByClient])
    }

    @Test("the buffers of a link that could not be ended stay in use (A95)")
    func ghostKeepsBuffers() {
        let rig = started([]) {
            $0.answers[Disconnect.opcode] = .status(.commandDisallowed)
            $0.aclCount = 2
        }
        let (first, second) = (rig.connect(HostRig.peer(1)), rig.connect(HostRig.peer(2), handle: 0x41))
        rig.confirmsData = false
        func command(_ link: LinkID) {
            rig.submit(.link(link, .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [1]))))
        }
        command(first)
        rig.submit(.link(first, .disconnect))
        rig.advance(by: .seconds(3))
        rig.forget()
        for _ in 0..<4 { command(second) }
        #expect(rig.data.count == 1)
    }

    @Test(
        "the authenticated payload timeout is not written where that harms; the client gets an error (A16)",
        arguments: [
            ControllerTraits.eventMaskPageTwoMutesEncryption, .cannotWriteAuthenticatedPayloadTimeout, [],
        ])
    func payloadTimeout(traits: ControllerTraits) {
        let rig = started(traits)
        let link = rig.connect()
        let operation = rig.submit(.link(link, .procedure(.setAuthenticatedPayloadTimeout(.seconds(30)))))
        let isSent = rig.count(of: SetEventMaskPage2.opcode) + rig.count(of: WriteAuthenticatedPayloadTimeout.opcode)
        #expect(isSent == (traits.isEmpty ? 2 : 0))
        let failure = HostFailure.controller(
            .unsupportedFeatureOrParameterValue, WriteAuthenticatedPayloadTimeout.opcode)
        #expect(rig.results(of: operation) == [traits.isEmpty ? .success(.done) : .failure(failure)])
    }

    @Test("each link asks for longer packets by itself: not every controller does (A105)")
    func dataLength() {
        let rig = HostRig()
        rig.features = [.encryption, .dataPacketLengthExtension]
        rig.start()
        #expect(rig.count(of: LEWriteSuggestedDefaultDataLength.opcode) == 1)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(rig.commands.last { $0.opcode == LESetDataLength.opcode }?.parameters == [0x40, 0, 251, 0, 0x48, 0x08])
    }

    // MARK: Scanning while a link is set up

    private func scanning(_ found: ControllerTraits) -> HostRig {
        let rig = started(found)
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.forget()
        return rig
    }

    @Test("a controller that crashes when it scans during a link's first procedure scans only after it (A48)")
    func quietSetup() {
        let rig = scanning(.crashesScanningDuringLinkSetup)
        rig.receive(rig.connectionComplete())
        #expect(
            rig.commands.map(\.opcode).prefix(2) == [LESetScanEnable.opcode, LEReadRemoteFeatures.opcode])
        #expect(rig.commands.first?.parameters.first == 0)
        rig.receive(
            LEReadRemoteFeaturesComplete(status: .success, connectionHandle: Self.handle, features: [.encryption]))
        #expect(rig.commands.last == .init(opcode: LESetScanEnable.opcode, parameters: [1, 0]))
    }

    @Test("scanning goes on after a bounded time, also if the procedure never ends, and with the link's end (A48)")
    func quietEnds() {
        for ends in [true, false] {
            let rig = scanning(.crashesScanningDuringLinkSetup)
            rig.receive(rig.connectionComplete())
            #expect(rig.count(of: LESetScanEnable.opcode) == 1)
            if ends { rig.receive(ended()) } else { rig.advance(by: .seconds(4)) }
            #expect(rig.count(of: LESetScanEnable.opcode) == 2)
        }
    }

    @Test("a hardware error while a link is set up and the controller scans is learned from (A48)")
    func learnsFromCrash() {
        let rig = scanning([])
        rig.receive(rig.connectionComplete())
        #expect(rig.count(of: LESetScanEnable.opcode) == 0)
        rig.advance(by: .seconds(2))
        rig.receive(HardwareError(hardwareCode: 3))
        #expect(learned(rig) == .crashesScanningDuringLinkSetup)
        rig.advance(by: .seconds(1))
        rig.forget()
        rig.receive(rig.connectionComplete())
        #expect(rig.commands.map(\.opcode).first == LESetScanEnable.opcode)
    }

    @Test("a hardware error at another time, or without scanning, is no such lesson (A48)")
    func otherCrash() {
        let rig = scanning([])
        rig.receive(HardwareError(hardwareCode: 3))
        rig.receive(rig.connectionComplete())
        rig.advance(by: .seconds(20))
        rig.receive(HardwareError(hardwareCode: 3))
        #expect(learned(rig).isEmpty)
        let other = started()
        _ = other.connect()
        other.receive(HardwareError(hardwareCode: 3))
        #expect(learned(other).isEmpty)
    }

    // MARK: Connecting in vain

    private func waiting(_ found: ControllerTraits, peers: Int) -> HostRig {
        let rig = started(found)
        rig.submit(.radio(.scan(ScanRequest())))
        for number in 0..<peers { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number))))) }
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.forget()
        return rig
    }

    private func hear(_ peers: Int, for seconds: Int, in rig: HostRig) {
        for _ in 0..<seconds {
            for number in 0..<peers {
                rig.receive(HostRig.report(HostRig.peer(number), type: .connectableUndirected))
            }
            rig.advance(by: .seconds(1))
        }
    }

    @Test("a controller that receives several devices for minutes and connects to none is reset (A62)")
    func connectsToNobody() {
        let rig = waiting([], peers: 2)
        hear(2, for: 170, in: rig)
        #expect(rig.count(of: Reset.opcode) == 0)
        hear(2, for: 20, in: rig)
        #expect(rig.events.contains(.recovering(.reset)) && rig.count(of: Reset.opcode) == 1)
        // It is not reset for ever.
        for _ in 0..<20 { hear(2, for: 200, in: rig) }
        #expect((1...5).contains(rig.count(of: Reset.opcode)))
        #expect(rig.isReady)
    }

    @Test("one odd device never has the controller reset, unless it is known to stop connecting (A62)")
    func oddDevice() {
        let rig = waiting([], peers: 1)
        hear(1, for: 3600, in: rig)
        #expect(rig.count(of: Reset.opcode) == 0)
        let other = waiting(.stopsConnecting, peers: 1)
        hear(1, for: 590, in: other)
        #expect(other.count(of: Reset.opcode) == 0)
        hear(1, for: 20, in: other)
        #expect(other.count(of: Reset.opcode) == 1)
    }

    @Test("devices that are not received, a link that is made and a link that is open say the contrary (A62)")
    func connects() {
        let away = waiting([], peers: 2)
        hear(2, for: 20, in: away)
        for _ in 0..<120 {
            away.receive(HostRig.report(HostRig.peer(9)))
            away.advance(by: .seconds(5))
        }
        hear(2, for: 20, in: away)
        #expect(away.count(of: Reset.opcode) == 0)
        let rig = waiting([], peers: 3)
        hear(2, for: 100, in: rig)
        rig.receive(rig.connectionComplete(HostRig.peer(2)))
        hear(2, for: 100, in: rig)
        rig.receive(ended())
        hear(2, for: 60, in: rig)
        #expect(rig.count(of: Reset.opcode) == 0)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(5)))))
        rig.receive(rig.connectionComplete(HostRig.peer(5)))
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        hear(2, for: 600, in: rig)
        #expect(rig.count(of: Reset.opcode) == 0, "a link is open")
    }
}
