import BLEPackets
import Testing

@testable import BLEHost

/// Races and failures in an order that a well-behaved controller never shows.
@Suite("Host against the odds")
struct HostOddsTests {
    @Test("a controller that owes a credit for 2 s still gets the next command (pain 6)")
    func zeroCredits() {
        let rig = HostRig()
        rig.start()
        rig.answers[LERand.opcode] = .silence
        rig.submit(.sendHCICommand(opcode: LERand.opcode, parameters: []))
        rig.receive(CommandComplete(commandCredits: 0, opcode: LERand.opcode, returnParameters: [0]))
        let operation = rig.submit(.sendHCICommand(opcode: ReadBDADDR.opcode, parameters: []))
        #expect(rig.nextDeadline != nil)
        rig.advance(by: .seconds(60))
        #expect(rig.results(of: operation).count == 1)
    }

    @Test("the late end of a cancelled attempt is not taken for the end of the next one (pains 2 and 3)")
    func staleCompletion() {
        let rig = HostRig()
        rig.start()
        rig.answers[LECreateConnection.opcode] = .silence
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(CommandStatus(status: .commandDisallowed, opcode: LECreateConnection.opcode))
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 1)
        // The cancelled foreign attempt tells its end.
        rig.receive(rig.connectionComplete(status: .unknownConnectionIdentifier))
        let before = rig.count(of: LECreateConnection.opcode)
        #expect(before == 2)
        rig.receive(CommandStatus(status: .success, opcode: LECreateConnection.opcode))
        #expect(rig.count(of: LECreateConnection.opcode) == 2, "a second attempt beside a live one")
    }

    @Test("a connection that the controller reports twice is one link")
    func reportedTwice() {
        let rig = HostRig()
        rig.start()
        let operation = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        for _ in 0..<2 { rig.receive(rig.connectionComplete()) }
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        #expect(rig.links.count == 1 && rig.disconnections.isEmpty)
        #expect(rig.results(of: operation).count == 1)
        #expect(rig.counters.unexpectedEvents == 1)
        // A while later, another report with its handle means that it has ended.
        rig.advance(by: .seconds(1))
        rig.receive(rig.connectionComplete())
        #expect(rig.disconnections.count == 1)
    }

    @Test("a connection of the time before a reset makes no link, and the client goes on waiting (pain 6)")
    func ghost() {
        let rig = HostRig()
        rig.start()
        let operation = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.answers[Reset.opcode] = .silence
        rig.receive(HardwareError(hardwareCode: 1))
        rig.receive(rig.connectionComplete())
        rig.receive(CommandComplete(opcode: Reset.opcode, returnParameters: [0]))
        rig.advance(by: .seconds(6))
        #expect(rig.links.isEmpty)
        #expect(rig.results(of: operation).isEmpty)
    }

    @Test("pending events of an ended link never go to the next link with its handle (DESIGN 2, links)")
    func handleOfAnotherLink() {
        let rig = HostRig()
        rig.start()
        let first = rig.connect(HostRig.peer(1), handle: 0x40)
        let waiting = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        rig.answers[ReadRSSI.opcode] = .silence
        rig.submit(.link(first, .procedure(.readRSSI)))
        rig.submit(.link(first, .procedure(.setDataLength(octets: 100, microseconds: 1000))))
        let other = rig.submit(.sendHCICommand(opcode: LERand.opcode, parameters: []))
        rig.submit(.link(first, .disconnect))
        rig.receive(
            DisconnectionComplete(connectionHandle: ConnectionHandle(rawValue: 0x40), reason: .connectionTimeout))
        rig.receive(rig.connectionComplete(HostRig.peer(2), handle: 0x40))
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        rig.advance(by: .seconds(3))
        #expect(rig.count(of: Disconnect.opcode) == 0)
        #expect(rig.count(of: LESetDataLength.opcode) == 0)
        #expect(rig.results(of: waiting).count == 1)
        #expect(rig.results(of: other).count == 1)
    }

    @Test("a required step that is refused resets the controller, once")
    func doubled() {
        let rig = HostRig()
        rig.aclLength = 0
        rig.aclCount = 0
        rig.answers[LEReadLocalSupportedFeatures.opcode] = .silence
        rig.start()
        rig.answers[Reset.opcode] = .silence
        rig.receive(CommandComplete(opcode: LEReadLocalSupportedFeatures.opcode, returnParameters: [0x03]))
        rig.answers = [:]
        rig.forget()
        rig.receive(CommandComplete(opcode: Reset.opcode, returnParameters: [0]))
        #expect(rig.isReady)
        #expect(rig.count(of: ReadBufferSize.opcode) == 1)
    }

    @Test("a peer that keeps asking without reading answers is dropped before memory grows")
    func replies() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect()
        rig.confirmsData = false
        for _ in 0..<20_000 { rig.receive(frame: [0x0A, 1, 0], handle: 0x40) }
        rig.confirmsData = true
        rig.receive(
            NumberOfCompletedPackets(links: [
                .init(connectionHandle: ConnectionHandle(rawValue: 0x40), count: 4)
            ]))
        #expect(rig.data.count < 5_000)
    }

    @Test("no deadline lies in the past while the controller is brought back: nothing spins (pain 16)")
    func spin() {
        let rig = HostRig()
        rig.acceptListSize = 0
        rig.start()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        rig.advance(by: .milliseconds(9500))
        rig.answers[Reset.opcode] = .silence
        rig.receive(HardwareError(hardwareCode: 1))
        rig.advance(by: .milliseconds(400))
        #expect(rig.nextDeadline.map { $0 > rig.now } ?? true)
        rig.forget()
        // not rig.advance: its loop would spin 1,000,000 times
        var deadlineInPast = false
        rig.receive([0x04, 0xFF, 0x00])
        deadlineInPast = rig.nextDeadline.map { $0.microseconds <= 1_000_000 + 10_000_000 } ?? false
        rig.advance(by: .milliseconds(200))
        #expect(rig.nextDeadline.map { $0 > rig.now } ?? true, "\(deadlineInPast)")
    }

    @Test("a peer's parameter request does not disturb the update that a client asked for")
    func parameters() {
        let rig = HostRig()
        rig.start()
        let link = rig.connect()
        let wished = ConnectionParameterRequest(
            interval: .milliseconds(100)...ConnectionInterval.milliseconds(200), peripheralLatency: 0,
            supervisionTimeout: .milliseconds(5000))
        let operation = rig.submit(.link(link, .procedure(.updateParameters(wished))))
        rig.answers[LEConnectionUpdate.opcode] = .status(.commandDisallowed)
        rig.receive(frame: [0x12, 1, 8, 0, 24, 0, 40, 0, 0, 0, 0xF4, 1], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation).isEmpty)
    }

    @Test("a stopped engine stays stopped, whatever the controller fails to answer")
    func stopped() {
        let rig = HostRig()
        rig.start()
        _ = rig.connect(HostRig.peer(1), handle: 0x40)
        _ = rig.connect(HostRig.peer(2), handle: 0x41)
        rig.answers[Disconnect.opcode] = .silence
        rig.submit(.stop)
        rig.advance(by: .seconds(10))
        #expect(rig.count(of: Reset.opcode) == 0)
        #expect(!rig.isReady)
    }

    @Test("the failure of an attempt that was given up is not attributed to the next device (SPEC CEN-9)")
    func charged() {
        let rig = HostRig()
        rig.start()
        rig.answers[LECreateConnectionCancel.opcode] = .silence
        let a = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
        rig.submit(.cancel(a))
        let b = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        rig.receive(rig.connectionComplete(HostRig.peer(1), status: .connectionTimeout))
        #expect(rig.results(of: b).isEmpty)
    }

    @Test("another owner's attempt on a shared controller is not cancelled")
    func shared() {
        let rig = HostRig(configuration: HostConfiguration(ownership: .shared))
        rig.start()
        rig.answers[LECreateConnection.opcode] = .status(.commandDisallowed)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 0)
    }

    @Test("a client's feature request waits for the engine's own instead of colliding with it")
    func features() {
        let rig = HostRig()
        rig.start()
        let link = rig.connect()
        rig.answers[LEReadRemoteFeatures.opcode] = .status(.commandDisallowed)
        let operation = rig.submit(.link(link, .procedure(.readRemoteFeatures)))
        #expect(rig.results(of: operation).isEmpty)
    }
}
