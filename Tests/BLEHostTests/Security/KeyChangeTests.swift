import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// What a link is while its key is being changed, and when that fails.
@Suite("Change of a link's key")
struct KeyChangeTests {
    private static let handle = ConnectionHandle(rawValue: 0x40)
    private static let key = LongTermKey(key: Key128(rawValue: 9))

    private func paired() -> TwoHosts {
        let two = TwoHosts()
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        return two
    }

    /// A central whose link to a bonded peer is being encrypted.
    private func encrypting() -> HostRig {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.start()
        rig.submit(
            .security(
                .restoreBonds([
                    Bond(identity: HostRig.peer, isSecureConnections: true, localKey: Self.key, peerKey: Self.key)
                ])))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        rig.forget()
        return rig
    }

    /// LE Enable Encryption, LE Long Term Key Request Reply.
    private static func isCommand(_ code: UInt8, _ packet: [UInt8]) -> Bool {
        packet.count > 3 && packet[0] == 1 && packet[1] == code && packet[2] == 0x20
    }

    @Test(
        "answers that wait for the end of a change are bounded: a peer that keeps asking is disconnected (Core 5.4, Vol 3, Part F, 3.3.2)"
    )
    func boundedAnswers() {
        let rig = encrypting()
        // Indications, each of which wants a confirmation.
        for _ in 0..<60 { rig.receive(frame: [0x1D, 3, 0, 1], handle: 0x40) }
        #expect(rig.data.isEmpty && rig.count(of: Disconnect.opcode) == 0)
        let patient = rig.counters.floodedLinks
        for _ in 0..<10 { rig.receive(frame: [0x1D, 3, 0, 1], handle: 0x40) }
        #expect(patient == 0 && rig.counters.floodedLinks > 0)
        #expect(rig.count(of: Disconnect.opcode) == 1)
        rig.receive(EncryptionChange(connectionHandle: Self.handle, state: .on))
        #expect(rig.data.isEmpty)
    }

    @Test("answers that waited for the end of a change are all sent then, and no longer count")
    func releasedAnswers() {
        let rig = encrypting()
        for _ in 0..<60 { rig.receive(frame: [0x1D, 3, 0, 1], handle: 0x40) }
        rig.receive(EncryptionChange(connectionHandle: Self.handle, state: .on))
        #expect(rig.data.count { $0.last == 0x1E } == 60)
        for _ in 0..<200 { rig.receive(frame: [0x1D, 3, 0, 1], handle: 0x40) }
        #expect(rig.data.count { $0.last == 0x1E } == 260)
        #expect(rig.count(of: Disconnect.opcode) == 0)
    }

    @Test("a new key that the controller never begins with leaves the link encrypted with the old one (SEC-4)")
    func neverBegun() throws {
        let two = paired()
        two.change = { side, packet in side == .central && Self.isCommand(0x19, packet) ? nil : packet }
        guard case .failure(.security(.encryptionFailed))? = two.pairAnew() else {
            Issue.record("paired")
            return
        }
        two.change = { $1 }
        two.run(for: .seconds(2))
        #expect(two.link(.central) != nil)
        #expect(two.security(.central)?.isEncrypted == true && two.security(.peripheral)?.isEncrypted == true)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("a change that the controllers began and could not end closes a link that was encrypted (SEC-4)")
    func brokenOff() {
        let two = paired()
        two.change = { side, packet in
            guard side == .peripheral, Self.isCommand(0x1A, packet) else { return packet }
            return [1, 0x1B, 0x20, 2, packet[4], packet[5]]
        }
        _ = two.pairAnew()
        two.run(for: .seconds(60))
        #expect(two.link(.central) == nil && two.link(.peripheral) == nil)
    }

    @Test("a failed refresh of an encrypted link's key closes the link; a link that was plain stays (SEC-4)")
    func failedRefresh() {
        let rig = encrypting()
        rig.receive(EncryptionChange(connectionHandle: Self.handle, state: .on))
        rig.forget()
        rig.receive(EncryptionKeyRefreshComplete(status: .pinOrKeyMissing, connectionHandle: Self.handle))
        #expect(rig.count(of: Disconnect.opcode) == 1)
        let plain = encrypting()
        plain.receive(EncryptionChange(status: .pinOrKeyMissing, connectionHandle: Self.handle, state: .off))
        #expect(plain.count(of: Disconnect.opcode) == 0)
    }
}
