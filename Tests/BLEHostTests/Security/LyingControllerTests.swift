import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Controllers that say of a link's encryption what is not so, and links that are encrypted more than once.
@Suite("Controllers that lie about encryption")
struct LyingControllerTests {
    private static let handle = BondProofTests.handle
    private static let clientKeys: [UInt8] = [
        0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    private func encrypted(_ rig: HostRig) -> [Bool] {
        rig.events.compactMap { if case .encryptionChanged(_, let now) = $0 { now.isEncrypted } else { nil } }
    }

    @Test("a link that nobody asked to encrypt stays plain, whatever the controller says", arguments: [true, false])
    func outOfTheBlue(isCentral: Bool) throws {
        let rig = BondProofTests.rig([])
        if isCentral { _ = rig.connect() } else { BondProofTests.peripheralLink(rig) }
        for state: EncryptionState in [.on, .off, .on, .on] {
            rig.receive(EncryptionChange(connectionHandle: Self.handle, state: state))
            rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: Self.handle))
            rig.receive(EncryptionChange(connectionHandle: ConnectionHandle(rawValue: 0x41), state: state))
        }
        #expect(encrypted(rig).isEmpty && rig.counters.unexpectedEvents >= 8)
        #expect(rig.count(of: Disconnect.opcode) == 0)
    }

    @Test("a refresh without a key proves nothing, nor does an event for another link")
    func refreshOfNothing() {
        let rig = BondProofTests.connected()
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: Self.handle))
        rig.receive(EncryptionChange(connectionHandle: ConnectionHandle(rawValue: 0x41), state: .on))
        #expect(encrypted(rig).isEmpty && BondProofTests.sent(rig).isEmpty)
        BondProofTests.on(rig)
        #expect(encrypted(rig) == [true] && BondProofTests.sent(rig).count == 1)
        BondProofTests.on(rig)
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: Self.handle))
        #expect(encrypted(rig) == [true])
    }

    @Test("a link whose encryption goes off ends, and until then nothing passes either way", arguments: [true, false])
    func off(isCentral: Bool) throws {
        let rig: HostRig
        if isCentral {
            rig = BondProofTests.connected()
        } else {
            rig = BondProofTests.rig()
            BondProofTests.peripheralLink(rig)
            rig.receive(Self.clientKeys)
        }
        BondProofTests.on(rig)
        rig.receive(frame: isCentral ? [0x03, 23, 0] : [0x02, 23, 0], handle: 0x40)
        let link = rig.links.last?.id ?? LinkID(handle: Self.handle, generation: 1)
        let reading = rig.submit(.link(link, .gatt(.read(BondProofTests.value))))
        rig.forget()
        rig.receive(EncryptionChange(connectionHandle: Self.handle, state: .off))
        #expect(rig.count(of: Disconnect.opcode) == 1)
        BondProofTests.forge(rig)
        rig.receive(frame: [0x0A, 3, 0], handle: 0x40)
        rig.receive(frame: [0x12, 9, 0, 0, 0], handle: 0x40)
        BondProofTests.on(rig)
        BondProofTests.forge(rig)
        #expect(BondProofTests.sent(rig).isEmpty)
        #expect(rig.results(of: reading).allSatisfy { if case .failure = $0 { true } else { false } })
        #expect(!rig.events.contains { if case .gatt = $0 { true } else { false } })
        #expect(rig.counters.refusedCleartext > 0)
    }

    @Test("a key that is asked for twice is given twice, and a failure then still ends a link that was encrypted")
    func askedTwice() {
        let rig = BondProofTests.rig()
        BondProofTests.peripheralLink(rig)
        rig.receive(Self.clientKeys)
        BondProofTests.on(rig)
        rig.receive(Self.clientKeys)
        rig.receive(Self.clientKeys)
        rig.forget()
        rig.receive(EncryptionKeyRefreshComplete(status: .pinOrKeyMissing, connectionHandle: Self.handle))
        #expect(rig.count(of: Disconnect.opcode) == 1)
    }

    @Test("a central is not asked for keys, and gives none")
    func askedAsCentral() {
        let rig = BondProofTests.connected()
        rig.receive(Self.clientKeys)
        #expect(rig.count(of: LELongTermKeyRequestReply.opcode) == 0)
        #expect(rig.count(of: LELongTermKeyRequestNegativeReply.opcode) == 1)
        #expect(BondProofTests.sent(rig).isEmpty)
    }

    @Test(
        "a link does not go on with a weaker key than it had: less authenticated, or shorter", arguments: [true, false])
    func weakerKey(isShorter: Bool) {
        let strong = BondProofTests.bond(isAuthenticated: true)
        var weak = BondProofTests.bond(isAuthenticated: isShorter)
        if isShorter { weak.keySize = 7 }
        let rig = BondProofTests.rig([strong])
        BondProofTests.peripheralLink(rig)
        rig.receive(Self.clientKeys)
        BondProofTests.on(rig)
        rig.submit(.security(.restoreBonds([weak])))
        rig.receive(Self.clientKeys)
        // Asked while the key is changed: it would be answered under the weaker one.
        rig.receive(frame: [0x0A, 3, 0], handle: 0x40)
        rig.forget()
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: Self.handle))
        #expect(rig.count(of: Disconnect.opcode) == 1 && BondProofTests.sent(rig).isEmpty)
        #expect(encrypted(rig) == [false])
    }
}
