import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// The waiting intervals after pairings that peers wanted and that failed (Core 5.4, Vol 3, Part H, 2.3.6).
@Suite struct PairingIntervalTests {
    typealias Rig = BondProofTests

    private static let request: [UInt8] = [0x01, 3, 0, 0x09, 16, 7, 7]
    private static let failed: [UInt8] = [0x05, 0x08]

    private func stranger(_ number: UInt64, _ role: LinkRole = .peripheral, isProven: Bool = false) -> PairingGuard.Peer
    {
        PairingGuard.Peer(
            address: DeviceAddress(value: 0xC000_0000_0000 | number, kind: .random), isProven: isProven, role: role)
    }

    private func central(_ rig: HostRig, _ peer: DeviceAddress = HostRig.peer) {
        rig.receive(
            LEConnectionComplete(
                status: .success, connectionHandle: Rig.handle, role: .peripheral, peerAddress: peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
    }

    private func leave(_ rig: HostRig) {
        rig.receive(DisconnectionComplete(connectionHandle: Rig.handle, reason: .remoteUserTerminatedConnection))
    }

    /// The central asks, and gives up if it is answered.
    /// - Returns: whether it was answered.
    private func ask(_ rig: HostRig) -> Bool {
        rig.forget()
        rig.receive(frame: Self.request, channel: 6, handle: 0x40)
        let isAnswered = Rig.sent(rig, on: 6).contains { $0.first == 0x02 }
        if isAnswered {
            rig.receive(frame: Self.failed, channel: 6, handle: 0x40)
        } else {
            #expect(Rig.sent(rig, on: 6) == [[0x05, 0x09]])
        }
        return isAnswered
    }

    // MARK: The guard

    @Test("The interval of a peer doubles up to 64 s, that of all strangers up to 16 s, in the peripheral's role only")
    func doubles() {
        var pairingGuard = PairingGuard()
        for count in 0..<20 {
            pairingGuard.requestFailed(stranger(1), at: .zero)
            #expect(pairingGuard.wait(of: stranger(1), isOfPeer: true, at: .zero) == .seconds(1 << min(count, 6)))
            #expect(pairingGuard.wait(of: stranger(2), isOfPeer: true, at: .zero) == .seconds(1 << min(count, 4)))
        }
        // What this side wants does not wait, nor does its other role, nor who has proved to be a bonded device.
        #expect(pairingGuard.wait(of: stranger(1), isOfPeer: false, at: .zero) == nil)
        #expect(pairingGuard.wait(of: stranger(1, .central), isOfPeer: true, at: .zero) == nil)
        #expect(pairingGuard.wait(of: stranger(1, isProven: true), isOfPeer: true, at: .zero) == nil)
        let passkey = PairingGuard.PasskeyEntry(role: .peripheral, fixed: nil, waitsForOthers: true, underWay: 0)
        #expect(pairingGuard.refusal(of: passkey, at: .zero) == nil)
    }

    @Test("As a central, and for a bonded device, only the peer itself waits")
    func separately() {
        var pairingGuard = PairingGuard()
        pairingGuard.requestFailed(stranger(1, .central), at: .zero)
        pairingGuard.requestFailed(stranger(2, isProven: true), at: .zero)
        #expect(pairingGuard.wait(of: stranger(1, .central), isOfPeer: true, at: .zero) == .seconds(1))
        #expect(pairingGuard.wait(of: stranger(2, isProven: true), isOfPeer: true, at: .zero) == .seconds(1))
        #expect(pairingGuard.wait(of: stranger(3, .central), isOfPeer: true, at: .zero) == nil)
        #expect(pairingGuard.wait(of: stranger(3), isOfPeer: true, at: .zero) == nil)
    }

    @Test("Failures are forgotten slowly: one each hour")
    func forgets() {
        var pairingGuard = PairingGuard()
        for _ in 0..<100 { pairingGuard.requestFailed(stranger(1), at: .zero) }
        func next(after span: Microseconds) -> Microseconds? {
            var later = pairingGuard
            let now = Instant.zero.advanced(by: span)
            #expect(later.wait(of: stranger(1), isOfPeer: true, at: now) == nil)
            later.requestFailed(stranger(1), at: now)
            return later.wait(of: stranger(1), isOfPeer: true, at: now)
        }
        #expect(next(after: .seconds(64)) == .seconds(64))
        #expect(next(after: .seconds(64 + 3 * 3600)) == .seconds(16))
        #expect(next(after: .seconds(64 + 7 * 3600)) == .seconds(1))
    }

    @Test("Peers under many addresses take no more memory, and clear neither another's failures nor the common ones")
    func flooded() {
        var pairingGuard = PairingGuard()
        for _ in 0..<8 { _ = pairingGuard.guessFailed(stranger(1), nil, at: .zero) }
        for _ in 0..<4 { pairingGuard.requestFailed(stranger(2), at: .zero) }
        for number in 100..<2000 as Range<UInt64> {
            pairingGuard.requestFailed(stranger(number), at: .zero)
            _ = pairingGuard.guessFailed(stranger(number), nil, at: .zero)
        }
        #expect(pairingGuard.wait(of: stranger(1), isOfPeer: false, at: .zero) == .seconds(128))
        #expect(pairingGuard.wait(of: stranger(2), isOfPeer: true, at: .zero) == .seconds(16))
        #expect(pairingGuard.wait(of: stranger(9999), isOfPeer: true, at: .zero) == .seconds(16))
        #expect(pairingGuard.remembered <= 64)
    }

    // MARK: The engine

    @Test("Of sixty requests in three seconds, each given up at once, two are answered; the link stays")
    func flood() {
        let rig = Rig.rig([])
        central(rig)
        var answered = 0
        for _ in 0..<60 {
            if ask(rig) { answered += 1 }
            rig.advance(by: .milliseconds(50))
        }
        #expect(answered == 2)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        // At its time it is answered again.
        rig.advance(by: .seconds(64))
        #expect(ask(rig))
    }

    @Test("A stranger that changes its address after each failure waits as well, however it ends the pairing")
    func rotating() {
        for ends in [false, true] {
            let rig = Rig.rig([])
            var answered = 0
            for number in 0..<60 {
                central(rig, HostRig.peer(number))
                rig.forget()
                rig.receive(frame: Self.request, channel: 6, handle: 0x40)
                if Rig.sent(rig, on: 6).contains(where: { $0.first == 0x02 }) { answered += 1 }
                if !ends { rig.receive(frame: Self.failed, channel: 6, handle: 0x40) }
                leave(rig)
                rig.advance(by: .seconds(1))
            }
            // After 0, 1, 3, 7, 15, 31 and 47 s.
            #expect((5...8).contains(answered), "\(ends)")
        }
    }

    @Test("Who failed once waits for one second")
    func once() {
        let rig = Rig.rig([])
        central(rig)
        #expect(ask(rig))
        rig.advance(by: .milliseconds(900))
        #expect(!ask(rig))
        rig.advance(by: .milliseconds(200))
        #expect(ask(rig))
    }

    @Test("Refused requests do not prolong the interval")
    func refused() {
        let rig = Rig.rig([])
        central(rig)
        #expect(ask(rig))
        for _ in 0..<99 {
            rig.advance(by: .milliseconds(10))
            _ = ask(rig)
        }
        rig.advance(by: .milliseconds(10))
        #expect(ask(rig))
    }

    @Test("This side's own end of a pairing costs the peer nothing")
    func cancelled() {
        let rig = Rig.rig([])
        central(rig)
        let link = LinkID(handle: Rig.handle, generation: 1)
        rig.receive(frame: Self.request, channel: 6, handle: 0x40)
        rig.submit(.link(link, .disconnect))
        leave(rig)
        central(rig)
        #expect(ask(rig))
    }

    @Test("A peripheral that asks for security and refuses it, again and again, is not followed each time; `pair` is")
    func securityRequests() {
        let rig = Rig.connected([])
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        rig.forget()
        var followed = 0
        for _ in 0..<60 {
            rig.forget()
            rig.receive(frame: [0x0B, 0x01], channel: 6, handle: 0x40)
            let sent = Rig.sent(rig, on: 6)
            if sent.contains(where: { $0.first == 0x01 }) {
                followed += 1
                rig.receive(frame: [0x05, 0x05], channel: 6, handle: 0x40)
            } else {
                #expect(sent == [[0x05, 0x09]])
            }
            rig.advance(by: .milliseconds(50))
        }
        #expect(followed == 2)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        // The operator need not wait: pressing the button of the device may have changed its mind.
        rig.forget()
        rig.submit(.security(.pair(LinkID(handle: Rig.handle, generation: 1), nil)))
        #expect(Rig.sent(rig, on: 6).contains { $0.first == 0x01 })
    }

    @Test("Strangers that always fail, also under a device's address, shut out neither that device nor an operator")
    func notShutOut() {
        for bonds in [[], [Rig.bond()]] as [[Bond]] {
            let rig = Rig.rig(bonds)
            for _ in 0..<50 {
                central(rig)
                rig.receive(frame: Self.request, channel: 6, handle: 0x40)
                // A check value that does not fit, and the like.
                rig.receive(frame: [0x05, 0x04], channel: 6, handle: 0x40)
                leave(rig)
                rig.advance(by: .seconds(20))
            }
            rig.forget()
            // As the central we pair with the device at once.
            if bonds.isEmpty {
                rig.submit(.security(.pair(rig.connect(), nil)))
                #expect(Rig.sent(rig, on: 6).contains { $0.first == 0x01 })
                continue
            }
            // Encryption with the bond needs no pairing, and a device that has proved itself may also pair again.
            central(rig)
            rig.receive(
                LELongTermKeyRequest(connectionHandle: Rig.handle, randomNumber: 0, encryptedDiversifier: 0))
            #expect(rig.count(of: LELongTermKeyRequestReply.opcode) == 1)
            Rig.on(rig)
            #expect(ask(rig))
        }
    }

    @Test("`pair` as a peripheral is not held up by failures of the central's own requests")
    func askedByUs() {
        let rig = Rig.rig([])
        central(rig)
        for _ in 0..<3 { _ = ask(rig) }
        rig.forget()
        rig.submit(.security(.pair(LinkID(handle: Rig.handle, generation: 1), nil)))
        #expect(Rig.sent(rig, on: 6).map(\.first) == [0x0B])
        rig.forget()
        rig.receive(frame: Self.request, channel: 6, handle: 0x40)
        #expect(Rig.sent(rig, on: 6).map(\.first) == [0x02])
    }
}
