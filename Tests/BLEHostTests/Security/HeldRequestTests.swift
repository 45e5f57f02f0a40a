import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Requests that come before the event about the key that protects them, as over USB, whose endpoints do not wait for
/// each other.
@Suite("Requests that overtake Encryption Change")
struct HeldRequestTests {
    private enum Role: CaseIterable { case central, peripheral }

    private enum Form: UInt8, CaseIterable {
        case single = 0x14
        case enhanced = 0x17
    }

    private static let spsm: UInt16 = 0x80

    /// A link to a bonded peer whose key is being changed; a client listens for channels.
    private func changing(_ role: Role, _ settings: SecuritySettings = SecuritySettings()) -> HostRig {
        let rig = BondProofTests.rig([BondProofTests.bond()], settings)
        rig.submit(.channel(.listen(spsm: Self.spsm, ChannelSettings(), requiresEncryption: true)))
        connect(rig, role)
        rig.forget()
        return rig
    }

    private func connect(_ rig: HostRig, _ role: Role) {
        switch role {
        case .central:
            rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
            rig.receive(rig.connectionComplete())
        case .peripheral:
            BondProofTests.peripheralLink(rig)
            // LE Long Term Key Request: the central begins to encrypt.
            rig.receive([0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        }
    }

    private func ask(_ rig: HostRig, _ form: Form, source: UInt8 = 0x40, identifier: UInt8 = 9) {
        let request: [UInt8] =
            switch form {
            case .single: [0x14, identifier, 10, 0, 0x80, 0, source, 0, 64, 0, 64, 0, 1, 0]
            case .enhanced: [0x17, identifier, 10, 0, 0x80, 0, 64, 0, 64, 0, 1, 0, source, 0]
            }
        rig.receive(frame: request, channel: 5, handle: 0x40)
    }

    /// Identifier and result of the responses to requests for channels.
    private func results(_ rig: HostRig) -> [[UInt8]] {
        BondProofTests.sent(rig, on: 5).compactMap { packet in
            switch packet[0] {
            case 0x15: [packet[1], packet[12]]
            case 0x18: [packet[1], packet[10]]
            default: nil
            }
        }
    }

    @Test("a request for channels waits for the key that decides about it", arguments: Role.allCases, Form.allCases)
    private func channel(role: Role, form: Form) {
        let rig = changing(role)
        ask(rig, form)
        #expect(results(rig).isEmpty)
        BondProofTests.on(rig)
        #expect(results(rig) == [[9, 0]])
        ask(rig, form, source: 0x41, identifier: 10)
        #expect(results(rig) == [[9, 0], [10, 0]], "nothing waits any longer")
    }

    @Test("if the key is refused, the request that waited is refused as well", arguments: Role.allCases, Form.allCases)
    private func refusedKey(role: Role, form: Form) {
        let rig = changing(role)
        ask(rig, form)
        rig.receive(
            EncryptionChange(status: .pinOrKeyMissing, connectionHandle: BondProofTests.handle, state: .off))
        #expect(results(rig) == [[9, 8]])
        #expect(!rig.events.contains { if case .channel(.opened) = $0 { true } else { false } })
    }

    @Test("requests are answered in the order in which they came, also when the key is refreshed")
    func refreshed() {
        let rig = changing(.peripheral)
        BondProofTests.on(rig)
        rig.receive([0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        ask(rig, .single, source: 0x41, identifier: 3)
        ask(rig, .enhanced, source: 0x42, identifier: 4)
        #expect(results(rig).isEmpty)
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: BondProofTests.handle))
        #expect(results(rig) == [[3, 0], [4, 0]])
    }

    @Test("signalling that no key decides about does not wait", arguments: Role.allCases)
    private func others(role: Role) {
        let rig = changing(role)
        // Disconnection Request for a channel that does not exist.
        rig.receive(frame: [0x06, 3, 4, 0, 0x40, 0, 0x41, 0], channel: 5, handle: 0x40)
        #expect(BondProofTests.sent(rig, on: 5).contains([0x01, 3, 6, 0, 2, 0, 0x40, 0, 0x41, 0]))
    }

    @Test("a peer that sends more than can wait is disconnected", arguments: Role.allCases)
    private func flood(role: Role) {
        let rig = changing(role)
        for number in 0..<64 { ask(rig, .single, source: UInt8(0x40 + number % 60), identifier: UInt8(number + 1)) }
        #expect(rig.counters.floodedLinks == 0 && rig.count(of: Disconnect.opcode) == 0)
        ask(rig, .single)
        #expect(rig.counters.floodedLinks == 1 && rig.count(of: Disconnect.opcode) == 1)
        BondProofTests.on(rig)
        #expect(results(rig).isEmpty)
    }

    @Test("what waits ends with the link", arguments: Role.allCases)
    private func ended(role: Role) {
        let rig = changing(role)
        ask(rig, .single)
        rig.receive(
            DisconnectionComplete(
                connectionHandle: BondProofTests.handle, reason: .remoteUserTerminatedConnection))
        rig.forget()
        connect(rig, role)
        BondProofTests.on(rig)
        #expect(results(rig).isEmpty)
    }

    @Test("a malformed request that waited is rejected and counted, and the ones behind it are answered")
    func malformed() {
        let rig = changing(.peripheral)
        rig.receive(frame: [0x14, 7, 10, 0, 0x80], channel: 5, handle: 0x40)
        ask(rig, .single)
        BondProofTests.on(rig)
        #expect(rig.counters.malformedPackets == 1 && results(rig) == [[9, 0]])
    }

    @Test("what the peer asks of our server is judged by the new key in either role", arguments: Role.allCases)
    private func attribute(role: Role) throws {
        let rig = BondProofTests.rig()
        let publishing = rig.submit(
            .server(
                .publish(
                    GATTServiceDefinition(
                        uuid: BluetoothUUID(0xFF00 as UInt16),
                        characteristics: [
                            GATTCharacteristicDefinition(
                                uuid: BluetoothUUID(0xFF01 as UInt16), properties: .read,
                                permissions: .readEncryption, value: [0x2A])
                        ]))))
        guard case .success(.published(let published))? = rig.results(of: publishing).first else {
            Issue.record("not published")
            return
        }
        connect(rig, role)
        rig.forget()
        let handle = UInt8(published.characteristics[0].valueHandle.rawValue)
        rig.receive(frame: [0x0A, handle, 0], handle: 0x40)
        #expect(BondProofTests.sent(rig).isEmpty)
        BondProofTests.on(rig)
        #expect(BondProofTests.sent(rig).contains([0x0B, 0x2A]))
        #expect(!BondProofTests.sent(rig).contains { $0[0] == 0x01 })
    }
}
