import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// What failed pairings cost, and whom (Core 5.4, Vol 3, Part H, 2.3.6).
@Suite struct PairingGuardTests {
    private func stranger(_ number: UInt64) -> PairingGuard.Peer {
        PairingGuard.Peer(address: DeviceAddress(value: 0xC000_0000_0000 | number, kind: .random), isProven: false)
    }

    private func entry(
        _ role: LinkRole = .peripheral, fixed: UInt32? = nil, waits: Bool = true, underWay: Int = 0
    ) -> PairingGuard.PasskeyEntry {
        PairingGuard.PasskeyEntry(role: role, fixed: fixed, waitsForOthers: waits, underWay: underWay)
    }

    private func entry(of user: UInt32, _ role: LinkRole = .central, fixed: UInt32? = nil) -> PairingGuard.PasskeyEntry
    {
        PairingGuard.PasskeyEntry(role: role, fixed: fixed, waitsForOthers: true, underWay: 0, user: user)
    }

    private func seconds(_ refusal: SecurityFailure?) -> Int64? {
        guard case .repeatedAttempts(let wait)? = refusal else { return nil }
        return wait.rawValue / 1_000_000
    }

    @Test("The host's delay doubles whichever peer fails, in that role only")
    func hostWait() {
        var pairingGuard = PairingGuard()
        for number in 0..<20 as Range<UInt64> {
            _ = pairingGuard.guessFailed(stranger(number), .init(role: .peripheral), at: .zero)
            #expect(seconds(pairingGuard.refusal(of: entry(), at: .zero)) == 1 << min(number, 11))
        }
        #expect(pairingGuard.refusal(of: entry(.central), at: .zero) == nil)
        #expect(pairingGuard.refusal(of: entry(waits: false), at: .zero) == nil)
        #expect(pairingGuard.wait(of: stranger(99), isOfPeer: false, at: .zero) == nil)
        // An hour after the last wait one failure less counts, a day later none.
        let later = Instant.zero.advanced(by: .seconds(2048 + 86_400))
        #expect(pairingGuard.refusal(of: entry(), at: later) == nil)
        _ = pairingGuard.guessFailed(stranger(0), .init(role: .peripheral), at: later)
        #expect(seconds(pairingGuard.refusal(of: entry(), at: later)) == 1)
    }

    @Test("Failures with nothing to guess delay only the peer that failed")
    func withoutPasskey() {
        var pairingGuard = PairingGuard()
        _ = pairingGuard.guessFailed(stranger(1), nil, at: .zero)
        #expect(pairingGuard.wait(of: stranger(1), isOfPeer: false, at: .zero) == .seconds(1))
        #expect(pairingGuard.refusal(of: entry(), at: .zero) == nil)
    }

    @Test("Failing under a device's address does not delay the device that has proven its bond there")
    func victim() {
        var pairingGuard = PairingGuard()
        for _ in 0..<5 { _ = pairingGuard.guessFailed(stranger(1), nil, at: .zero) }
        #expect(pairingGuard.wait(of: stranger(1), isOfPeer: false, at: .zero) == .seconds(16))
        let device = PairingGuard.Peer(address: stranger(1).address, isProven: true)
        #expect(pairingGuard.wait(of: device, isOfPeer: false, at: .zero) == nil)
    }

    @Test("Three failures lock a fixed passkey until an operator acts; simultaneous attempts are counted")
    func lock() {
        var pairingGuard = PairingGuard()
        #expect(pairingGuard.refusal(of: entry(fixed: 1, underWay: 2), at: .zero) == nil)
        #expect(seconds(pairingGuard.refusal(of: entry(fixed: 1, underWay: 3), at: .zero)) == 1)
        for number in 0..<4 as Range<UInt64> {
            let isLocked = pairingGuard.guessFailed(stranger(number), .init(role: .peripheral, fixed: 1), at: .zero)
            #expect(isLocked == (number == 2))
        }
        let later = Instant.zero.advanced(by: .seconds(10_000_000))
        #expect(pairingGuard.refusal(of: entry(fixed: 1), at: later) == .passkeyLocked)
        #expect(pairingGuard.refusal(of: entry(fixed: 1, waits: false), at: later) == .passkeyLocked)
        // Another number, one for each pairing, and what this device does as a central go on.
        #expect(pairingGuard.refusal(of: entry(fixed: 2), at: later) == nil)
        #expect(pairingGuard.refusal(of: entry(), at: later) == nil)
        #expect(pairingGuard.refusal(of: entry(.central, fixed: 1), at: later) == nil)
        // Success proves nothing of others.
        pairingGuard.succeeded(stranger(0).address)
        #expect(pairingGuard.refusal(of: entry(fixed: 1), at: later) == .passkeyLocked)
        pairingGuard.reset()
        #expect(pairingGuard.refusal(of: entry(fixed: 1), at: later) == nil)
    }

    @Test("One failure that gives the whole passkey away locks it")
    func disclosed() {
        var pairingGuard = PairingGuard()
        let failed = PairingGuard.FailedEntry(role: .central, fixed: 1, isDisclosed: true)
        let isLocked = pairingGuard.guessFailed(stranger(1), failed, at: .zero)
        #expect(isLocked)
        #expect(pairingGuard.refusal(of: entry(.central, fixed: 1), at: .zero) == .passkeyLocked)
    }

    @Test(
        "Failures in pairings that a user causes delay and lock nothing for others",
        arguments: [LinkRole.central, .peripheral])
    func ofUser(role: LinkRole) {
        var pairingGuard = PairingGuard()
        for number in 0..<12 as Range<UInt64> {
            let peer = PairingGuard.Peer(address: stranger(number).address, isProven: false, user: 1000)
            _ = pairingGuard.guessFailed(peer, .init(role: role, fixed: 1, user: 1000), at: .zero)
        }
        #expect(seconds(pairingGuard.refusal(of: entry(of: 1000, role), at: .zero)) == 2048)
        #expect(pairingGuard.refusal(of: entry(of: 1000, role, fixed: 1), at: .zero) == .passkeyLocked)
        #expect(pairingGuard.refusal(of: entry(of: 1001, role, fixed: 1), at: .zero) == nil)
        #expect(pairingGuard.refusal(of: entry(role, fixed: 1), at: .zero) == nil)
        // Nor do others wait for these devices.
        #expect(pairingGuard.wait(of: stranger(3), isOfPeer: false, at: .zero) == nil)
        var peer = PairingGuard.Peer(address: stranger(3).address, isProven: false, user: 1000)
        #expect(pairingGuard.wait(of: peer, isOfPeer: false, at: .zero) == .seconds(1))
        peer.user = 1001
        #expect(pairingGuard.wait(of: peer, isOfPeer: false, at: .zero) == nil)
        // A success with another user changes nothing for this one.
        pairingGuard.succeeded(stranger(3).address, of: 1001)
        peer.user = 1000
        #expect(pairingGuard.wait(of: peer, isOfPeer: false, at: .zero) == .seconds(1))
        pairingGuard.succeeded(stranger(3).address, of: 1000)
        #expect(pairingGuard.wait(of: peer, isOfPeer: false, at: .zero) == nil)
    }

    @Test("What strangers have failed at counts for users, too, together with their own failures")
    func strangersAndUsers() {
        var pairingGuard = PairingGuard()
        for number in 0..<2 as Range<UInt64> {
            _ = pairingGuard.guessFailed(stranger(number), .init(role: .peripheral, fixed: 1), at: .zero)
        }
        #expect(seconds(pairingGuard.refusal(of: entry(of: 1000, .peripheral), at: .zero)) == 2)
        let peer = PairingGuard.Peer(address: stranger(9).address, isProven: false, user: 1000)
        _ = pairingGuard.guessFailed(peer, .init(role: .peripheral, fixed: 1, user: 1000), at: .zero)
        let later = Instant.zero.advanced(by: .seconds(100))
        #expect(pairingGuard.refusal(of: entry(of: 1000, .peripheral, fixed: 1), at: later) == .passkeyLocked)
        #expect(pairingGuard.refusal(of: entry(of: 1001, .peripheral, fixed: 1), at: later) == nil)
        #expect(pairingGuard.refusal(of: entry(fixed: 1), at: later) == nil)
        _ = pairingGuard.guessFailed(stranger(2), .init(role: .peripheral, fixed: 1), at: later)
        for entry in [entry(of: 1001, .peripheral, fixed: 1), entry(fixed: 1)] {
            #expect(pairingGuard.refusal(of: entry, at: later) == .passkeyLocked)
        }
        // A device that strangers' failures are counted for waits whoever pairs with it.
        var same = stranger(2)
        same.user = 1001
        #expect(pairingGuard.wait(of: same, isOfPeer: false, at: later) == .seconds(1))
    }

    @Test("Any number of users takes no more memory, and a user cannot clear its own failures by failing")
    func boundedUsers() {
        var pairingGuard = PairingGuard()
        func fail(_ user: UInt32, _ fixed: UInt32, _ role: LinkRole = .central) {
            let peer = PairingGuard.Peer(address: stranger(UInt64(fixed)).address, isProven: false, user: user)
            _ = pairingGuard.guessFailed(peer, .init(role: role, fixed: fixed, user: user), at: .zero)
        }
        for _ in 0..<3 { fail(1000, 1) }
        for number in 2..<1000 as Range<UInt32> {
            fail(1000, number)
            fail(1000, number, .peripheral)
            fail(1001 + number % 60, 1)
        }
        #expect(pairingGuard.refusal(of: entry(of: 1000, fixed: 1), at: .zero) == .passkeyLocked)
        #expect(seconds(pairingGuard.refusal(of: entry(of: 1000), at: .zero)) == 2048)
        for user in 5000..<6000 as Range<UInt32> { fail(user, 1) }
        #expect(pairingGuard.remembered <= 64 + 64 + 64 * 16)
        // Those that no longer count make room first.
        let later = Instant.zero.advanced(by: .seconds(10_000_000))
        pairingGuard.reset()
        for user in 0..<64 as Range<UInt32> {
            _ = pairingGuard.guessFailed(stranger(1), .init(role: .central, user: user), at: .zero)
        }
        _ = pairingGuard.guessFailed(stranger(1), .init(role: .central, user: 99), at: later)
        #expect(pairingGuard.remembered == 2)
    }

    @Test("Any number of strangers and passkeys takes no more memory, and unlocks nothing")
    func bounded() {
        var pairingGuard = PairingGuard()
        for number in 0..<3 as Range<UInt64> {
            _ = pairingGuard.guessFailed(stranger(number), .init(role: .peripheral, fixed: 1), at: .zero)
        }
        for number in 0..<1000 as Range<UInt64> {
            _ = pairingGuard.guessFailed(
                stranger(number), .init(role: .peripheral, fixed: UInt32(number) + 2), at: .zero)
        }
        #expect(pairingGuard.refusal(of: entry(fixed: 1), at: .zero) == .passkeyLocked)
        #expect(pairingGuard.remembered <= 64 + 16)
    }
}

/// What a host does with it.
@Suite struct PasskeyLockTests {
    @Test(
        "A locked passkey is reported once, refuses in both roles, and can be unlocked",
        arguments: TwoHosts.Side.allCases)
    func lockIsTold(side: TwoHosts.Side) {
        var settings = TwoHosts.Settings.passkey
        if side == .peripheral {
            settings.peripheral.pairing.passkey = 123_456
        } else {
            settings.central.pairing.ioCapability = .displayOnly
            settings.peripheral.pairing.ioCapability = .keyboardOnly
            settings.central.pairing.passkey = 123_456
        }
        let two = TwoHosts(settings)
        let other: TwoHosts.Side = side == .central ? .peripheral : .central
        two.answer = { from, _ in from == other ? .passkey(654_321) : nil }
        for _ in 0..<3 {
            two.submit(.security(.unlockPasskey), by: other)
            two.connect()
            _ = two.pair()
            two.disconnect()
            two.run(for: .seconds(20))
        }
        #expect(two.pairingEvents(side).filter { $0 == .passkeyLocked }.count == 1)
        two.forget()
        two.answer = { from, _ in from == other ? .passkey(123_456) : nil }
        two.submit(.security(.unlockPasskey), by: other)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(1))
        #expect(two.failures(side) == [.passkeyLocked])
        #expect(two.failures(other) == [.refusedByPeer(.repeatedAttempts)])
        two.submit(.security(.unlockPasskey), by: side)
        two.submit(.security(.unlockPasskey), by: other)
        guard case .success? = two.pair() else { return #expect(Bool(false), "not unlocked") }
    }

    @Test("Strangers' failures do not keep a bonded central from its encryption, nor an operator from pairing")
    func honestGoOn() {
        let two = TwoHosts(.passkey)
        two.connect()
        guard case .success? = two.pair() else { return #expect(Bool(false), "not paired") }
        two.disconnect()
        for number in 0..<12 as Range<UInt64> {
            let stranger = PairingGuard.Peer(
                address: DeviceAddress(value: 0xC000_0000_0000 | number, kind: .random), isProven: false)
            for role in [LinkRole.central, .peripheral] {
                two.engine(.peripheral).fail(stranger, role, at: two.now)
                two.engine(.central).fail(stranger, role, at: two.now)
            }
        }
        two.connect()
        #expect(two.run(for: .seconds(5)) { two.security(.peripheral)?.isEncrypted == true })
        // It has proven an authenticated bond, so that it may also renew it.
        guard case .success? = two.pair() else { return #expect(Bool(false), "not paired again") }
    }

    @Test("A fixed passkey is not revealed if a peer need not know it")
    func notWithoutAuthentication() throws {
        var settings = TwoHosts.Settings.passkey
        settings.peripheral.pairing.requiresAuthentication = false
        settings.peripheral.pairing.passkey = 123_456
        settings.central.pairing.requiresAuthentication = true
        let two = TwoHosts(settings)
        two.connect()
        guard case .success? = two.pair() else { return #expect(Bool(false), "not paired") }
        #expect(try #require(two.passkey) != 123_456)
    }
}
