import BLEPackets
import BLESecurity
import TestSupport
import Testing

@testable import BLEHost

/// Controllers whose events come later than data that were sent after them, and what is proved then.
@Suite("Controllers that report encryption late")
struct EarlyDataTests {
    private typealias Rig = BondProofTests

    private func pair(
        _ way: PairingCase, _ late: TwoMachines.Side, by lateness: Int64, interval: Int64 = 7_500, mayBeLate: Bool
    ) -> TwoMachines {
        let two = way.machines()
        two.hearsLate = late
        two.lateness = Microseconds(rawValue: lateness)
        two.interval = Microseconds(rawValue: interval)
        two.mayBeLate = mayBeLate
        return two.run()
    }

    @Test(
        "keys of an unauthenticated pairing wait for a report that comes 12 or 20 ms late, or some intervals (A50)",
        arguments: [(12_000, 7_500), (20_000, 7_500), (30_000, 7_500), (50_000, 15_000), (100_000, 50_000)])
    func late(lateness: Int, interval: Int) {
        for way in [PairingCase.justWorks, .legacyJustWorks] {
            let (lateness, interval) = (Int64(lateness), Int64(interval))
            let two = pair(way, .initiator, by: lateness, interval: interval, mayBeLate: true)
            #expect(two.outcome(.initiator) != nil && two.outcome(.responder) != nil)
            let strict = pair(way, .initiator, by: lateness, interval: interval, mayBeLate: false)
            #expect(strict.failure(.initiator) == .refusedByUs(.unspecifiedReason))
        }
    }

    @Test("more than some intervals, and more than 100 ms, is too late for every controller (A50)")
    func tooLate() {
        for (lateness, interval) in [(30_001, 7_500), (100_001, 30_000), (100_001, 100_000)] as [(Int64, Int64)] {
            let two = pair(.justWorks, .initiator, by: lateness, interval: interval, mayBeLate: true)
            #expect(two.failure(.initiator) == .refusedByUs(.unspecifiedReason))
        }
        // A long interval proves what it proves.
        #expect(
            pair(.justWorks, .initiator, by: 400_000, interval: 400_000, mayBeLate: true).outcome(.initiator) != nil)
    }

    @Test("a pairing that protects against attackers takes no key without proof, whatever the controller is (A50)")
    func authenticated() {
        for way in PairingCase.all where way.machines().run().outcome(.initiator)?.isAuthenticated == true {
            for side in TwoMachines.Side.allCases {
                var short = way
                if side == .responder { short.initiator.responderKeys = [] }
                #expect(pair(short, side, by: 7_500, mayBeLate: true).outcome(side) != nil, "\(side) \(way)")
                #expect(
                    pair(short, side, by: 7_501, mayBeLate: true).failure(side) == .refusedByUs(.unspecifiedReason),
                    "\(side) \(way)")
            }
        }
    }

    // MARK: Values

    /// A link to a bonded peripheral that is being encrypted, on a controller that is known to report late.
    private func central(isKnown: Bool = true) -> HostRig {
        var configuration = HostConfiguration(hasCryptoProvider: true)
        if isKnown { configuration.experience.found = .sendsDataBeforeEvents }
        let rig = HostRig(configuration: configuration)
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.start()
        rig.submit(.security(.restoreBonds([Rig.bond()])))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
        return rig
    }

    /// The values that the client gets when it subscribes: those that came before are kept for it.
    private func values(_ rig: HostRig) -> [UInt8] {
        rig.receive(frame: [0x03, 23, 0], handle: 0x40)
        guard let link = rig.links.last?.id else { return [] }
        rig.submit(
            .link(
                link,
                .gatt(
                    .subscribe(
                        AttributeHandle(rawValue: 3), configuration: AttributeHandle(rawValue: 4), mode: .notifications)
                )))
        rig.receive(frame: [0x13], handle: 0x40)
        return rig.events.compactMap {
            if case .gatt(_, .notification(let notification)) = $0 { notification.value.first } else { nil }
        }
    }

    @Test("a bonded peripheral's value that comes within an interval before the report was encrypted (A51)")
    func early() {
        let rig = central()
        rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        rig.receive(frame: [0x1D, 3, 0, 8], handle: 0x40)
        rig.advance(by: .milliseconds(29))
        Rig.on(rig)
        #expect(values(rig) == [7, 8])
        #expect(Rig.sent(rig).contains([0x1E]))
        #expect(rig.counters.refusedCleartext == 0)
    }

    @Test("one that comes earlier may be anybody's, and is refused; an indication is confirmed nevertheless (A51)")
    func tooEarly() {
        let rig = central()
        rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        rig.receive(frame: [0x1D, 3, 0, 8], handle: 0x40)
        rig.advance(by: .milliseconds(31))
        rig.receive(frame: [0x1B, 3, 0, 9], handle: 0x40)
        Rig.on(rig)
        #expect(values(rig) == [9])
        #expect(Rig.sent(rig).contains([0x1E]))
        #expect(rig.counters.refusedCleartext == 2)
    }

    @Test("values that came before an encryption that failed are refused (A51)")
    func failed() {
        let rig = central()
        rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        rig.receive(EncryptionChange(status: .pinOrKeyMissing, connectionHandle: Rig.handle, state: .off))
        #expect(rig.counters.refusedCleartext == 1)
        #expect(values(rig).isEmpty)
        let other = central()
        other.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        other.receive(
            DisconnectionComplete(connectionHandle: Rig.handle, reason: .connectionTerminatedDueToMICFailure))
        #expect(other.counters.refusedCleartext == 1)
    }

    @Test("where events come in time, a value before the report came unencrypted and is refused at once (A51)")
    func inTime() {
        let rig = central(isKnown: false)
        rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        #expect(rig.counters.refusedCleartext == 1)
        Rig.on(rig)
        #expect(values(rig).isEmpty)
    }

    @Test("data that came before the report of their link came unencrypted, however soon the encryption follows (A51)")
    func parked() {
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true))
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.start()
        rig.submit(.security(.restoreBonds([Rig.bond()])))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40)
        rig.receive(rig.connectionComplete())
        Rig.on(rig)
        #expect(rig.counters.refusedCleartext == 1)
        #expect(values(rig).isEmpty)
    }

    @Test("a flood of values before the report costs no memory and no link (A51)")
    func flood() {
        let rig = central()
        for _ in 0..<10_000 { rig.receive(frame: [0x1B, 3, 0, 7], handle: 0x40) }
        #expect(rig.counters.refusedCleartext == 10_000 - 64)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        Rig.on(rig)
        #expect(values(rig).first == 7)
    }

    @Test("what a central asks before the report is answered by the new key (A51)")
    func request() {
        let rig = Rig.rig()
        Rig.peripheralLink(rig)
        rig.receive(LELongTermKeyRequest(connectionHandle: Rig.handle, randomNumber: 0, encryptedDiversifier: 0))
        rig.receive(frame: [0x0A, 3, 0], handle: 0x40)
        #expect(Rig.sent(rig).isEmpty)
        rig.advance(by: .milliseconds(50))
        Rig.on(rig)
        #expect(Rig.sent(rig).contains { $0.first == 0x0B })
    }
}
