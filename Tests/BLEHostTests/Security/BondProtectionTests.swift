import BLEPackets
import BLESecurity
import TestSupport
import Testing

@testable import BLEHost

/// Attacks on bonds: a stranger claims another device's identity, or makes us pair again.
@Suite struct BondProtectionTests {
    private static let stranger = DeviceAddress(value: 0xC0FF_EE00_0042, kind: .random)
    private static let victim = DeviceAddress(value: 0x00BB_0000_0007, kind: .public)
    private static let key = Key128(rawValue: 5)

    private static func bond(_ identity: DeviceAddress, resolvingKey: Key128? = key) -> Bond {
        let key = LongTermKey(key: Key128(rawValue: 9))
        return Bond(
            identity: identity, identityResolvingKey: resolvingKey, isSecureConnections: true, localKey: key,
            peerKey: key)
    }

    /// The SMP opcode of an H4 packet.
    private func opcode(_ packet: [UInt8]) -> UInt8? {
        packet.first == 2 && packet.count > 9 && packet[7] == 6 ? packet[9] : nil
    }

    // MARK: Claimed identities

    /// The central says in pairing that it is somebody else, or that it has another's key.
    private func lie(_ two: TwoHosts, identity: DeviceAddress? = nil, resolvingKey: Key128? = nil) {
        two.change = { side, packet in
            guard side == .central else { return packet }
            switch (opcode(packet), identity, resolvingKey) {
            case (8, _, let key?): return packet.prefix(10) + key.octets
            case (9, let identity?, _): return packet.prefix(10) + [identity.isRandom ? 1 : 0] + identity.octets
            default: return packet
            }
        }
    }

    private var settings: TwoHosts.Settings {
        var settings = TwoHosts.Settings()
        settings.central.identityResolvingKey = Key128(rawValue: 0x77)
        return settings
    }

    @Test("A stranger that claims a bonded device's identity is refused, and the bond stays as it is")
    func claimedIdentity() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        lie(two, identity: Self.victim)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [.wouldReplaceBond])
        #expect(two.bonds(.peripheral) == [Self.bond(Self.victim)])
    }

    @Test("A device with the resolving key of another is still bonded with, and takes nothing from the other")
    func claimedKey() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        lie(two, resolvingKey: Self.key)
        two.connect()
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [])
        #expect(two.bonds(.peripheral).map(\.identity) == [Self.victim, TwoHosts.centralAddress])
        #expect(two.bonds(.peripheral).first == Self.bond(Self.victim))
    }

    @Test(
        "Not even an authenticated pairing replaces the bond of the identity it claims, unless the user says so",
        arguments: [false, true])
    func authenticatedClaim(says: Bool) {
        var settings = TwoHosts.Settings.passkey
        settings.central.identityResolvingKey = Key128(rawValue: 0x77)
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        let others = two.answer
        two.answer = { side, kind in
            if case .replaceBond(Self.victim) = kind { .confirm(says) } else { others(side, kind) }
        }
        lie(two, identity: Self.victim)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == (says ? [] : [.wouldReplaceBond]))
        #expect(two.bonds(.peripheral).map(\.identity) == [Self.victim])
        #expect(two.bonds(.peripheral).first?.isAuthenticated == says)
    }

    @Test("An unanswered claim is dropped eventually", arguments: [TwoHosts.Side.central, .peripheral])
    func unansweredClaim(ender: TwoHosts.Side) {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        two.answer = { _, _ in nil }
        lie(two, identity: Self.victim)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral).isEmpty)
        if ender == .central { two.disconnect() } else { two.run(for: .seconds(31)) }
        two.run(for: .seconds(1))
        #expect(two.failures(.peripheral) == [ender == .central ? .linkLost : .wouldReplaceBond])
        #expect(two.bonds(.peripheral) == [Self.bond(Self.victim)])
    }

    @Test(
        "Under a bonded device's own address a stranger pairs only if the user agrees, and proves no bond otherwise"
    )
    func claimedAddress() {
        let bond = Self.bond(TwoHosts.centralAddress)
        let two = TwoHosts(bonds: [.peripheral: [bond]])
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByPeer(.unspecifiedReason))))
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [.wouldReplaceBond])
        #expect(two.bonds(.peripheral) == [bond])
        // Without bonding there is nothing to replace, and the link is not the bond's.
        #expect(two.pair(by: .central, PairingOptions(isBonding: false))?.pairing != nil)
        two.run(for: .seconds(2))
        #expect(two.security(.peripheral)?.isEncrypted == true && two.security(.peripheral)?.isBonded == false)
        #expect(two.bonds(.peripheral) == [bond])
    }

    // MARK: Pairing with a bonded device

    @Test("`pair` with a bonded device encrypts with the bond, reports that it was bonded, and does not pair again")
    func pairOverBond() throws {
        let before = TwoHosts()
        before.connect()
        #expect(before.pair()?.pairing != nil)
        before.run(for: .seconds(2))
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let two = TwoHosts(
            settings, bonds: [.central: before.bonds(.central), .peripheral: before.bonds(.peripheral)])
        two.connect()
        for _ in 1...2 {
            guard case .success(.paired(let summary))? = two.pair() else {
                Issue.record("not paired")
                return
            }
            #expect(summary.wasBonded && summary.isBonded)
        }
        #expect(two.pairingEvents(.central).isEmpty)
        #expect(two.bonds(.central).first?.peerKey == before.bonds(.central).first?.peerKey)
        // By the operator's word it is renewed.
        #expect(two.pairAnew()?.pairing != nil)
        #expect(two.bonds(.central).first?.peerKey != before.bonds(.central).first?.peerKey)
    }

    @Test(
        "For more security than the bond gives, the devices pair over the link that the bond has encrypted",
        arguments: [true, false])
    func pairForMore(encryptsAtConnection: Bool) throws {
        let before = TwoHosts()
        before.connect()
        #expect(before.pair()?.pairing != nil)
        before.run(for: .seconds(2))
        var settings = TwoHosts.Settings.passkey
        settings.central.encryptsAtConnection = encryptsAtConnection
        let two = TwoHosts(
            settings, bonds: [.central: before.bonds(.central), .peripheral: before.bonds(.peripheral)])
        two.connect()
        let result = two.pair(
            by: .central, PairingOptions(ioCapability: .keyboardOnly, requiresAuthentication: true))
        guard case .success(.paired(let summary))? = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(summary.isAuthenticated && !summary.wasBonded)
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [] && two.bonds(.peripheral).map(\.isAuthenticated) == [true])
    }

    @Test("`pair` with a device that has lost its keys says so, and pairs only if the operator says so")
    func pairWithForgetful() {
        let bond = Self.bond(TwoHosts.peripheralAddress)
        let two = TwoHosts(bonds: [.central: [bond]])
        two.connect()
        two.run(for: .seconds(2))
        #expect(two.pair() == .failure(.security(.keyMissingAtPeer)))
        #expect(two.bonds(.central) == [bond])
        #expect(two.pairAnew()?.pairing != nil)
        #expect(two.bonds(.central).first?.peerKey != bond.peerKey)
    }

    @Test("Once a bond is removed its device pairs again, whatever address it uses")
    func pairedAfterRemoval() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        two.submit(.security(.removeBond(Self.victim)), by: .peripheral)
        lie(two, identity: Self.victim)
        two.connect()
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        #expect(two.bonds(.peripheral).map(\.identity) == [Self.victim])
    }

    @Test("Nor does a device that shows private addresses, whose bond has no resolving key yet")
    func unresolvableDevice() throws {
        let world = PrivateWorldTests.world([.extended, .extended], friends: [])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        let old = Self.bond(PrivateWorldTests.identity(0), resolvingKey: nil)
        central.submit(.security(.restoreBonds([old])))
        peripheral.submit(.radio(.advertise(PrivateWorldTests.open)))
        let address = try #require(peripheral.ownAddress)
        let link = try #require(central.connect(address))
        var says = false
        central.react = { event in
            guard case .pairing(_, .question(let question)) = event else { return nil }
            return .security(.answerPairing(question.id, .confirm(says)))
        }
        #expect(central.result(of: .security(.pair(link, nil))) == .failure(.security(.wouldReplaceBond)))
        #expect(central.host.rooms.pairings.bonds.table.all == [old])
        says = true
        #expect(central.result(of: .security(.pair(link, nil)))?.pairing != nil)
        world.run(for: .seconds(1))
        #expect(central.host.rooms.pairings.bonds.table.all.map(\.identity) == [PrivateWorldTests.identity(0)])
        #expect(central.host.rooms.pairings.bonds.table.all.first?.identityResolvingKey == PrivateWorldTests.key(0))
    }

    @Test("A new identity ends the bond of the former one where that bond's key encrypted the link, and not otherwise")
    func changedIdentity() throws {
        let before = TwoHosts()
        before.connect()
        #expect(before.pair()?.pairing != nil)
        before.run(for: .seconds(2))
        let bonds = Dictionary(uniqueKeysWithValues: TwoHosts.Side.allCases.map { ($0, before.bonds($0)) })
        for isProven in [true, false] {
            var settings = settings
            settings.central.encryptsAtConnection = isProven
            let two = TwoHosts(settings, bonds: bonds)
            lie(two, identity: Self.stranger)
            two.connect()
            two.run(for: .seconds(2))
            #expect((two.pairAnew()?.pairing != nil) == isProven)
            two.run(for: .seconds(2))
            let identities = two.bonds(.peripheral).map(\.identity)
            #expect(identities == (isProven ? [Self.stranger] : [TwoHosts.centralAddress]))
        }
    }

    // MARK: Pairing in silence

    @Test(
        "A stranger under a bonded address that refuses encryption and asks for security is not paired with (2.4.6)",
        arguments: [true, false], [IOCapability.noInputNoOutput, .keyboardDisplay])
    func strangerAsks(encryptsAtConnection: Bool, capability: IOCapability) {
        var settings = SecuritySettings()
        settings.encryptsAtConnection = encryptsAtConnection
        settings.pairing.ioCapability = capability
        let rig = HostRig(configuration: HostConfiguration(hasCryptoProvider: true, security: settings))
        rig.cryptoProvider = SwiftCryptoProvider()
        rig.start()
        rig.submit(.security(.restoreBonds([Self.bond(HostRig.peer)])))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0], handle: 0x40)
        let wish: [UInt8] = [0x0B, 0x05]
        for number in 1...3 {
            if number > 1 || !encryptsAtConnection { rig.receive(frame: wish, channel: 6, handle: 0x40) }
            #expect(rig.count(of: LEEnableEncryption.opcode) == number)
            // LL_REJECT_IND with an error code of the stranger's choice.
            rig.receive(
                EncryptionChange(
                    status: .unsupportedRemoteFeature, connectionHandle: ConnectionHandle(rawValue: 0x40), state: .off))
        }
        #expect(!rig.data.contains { $0.count > 8 && $0[6] == 6 && $0[8] == 1 }, "a Pairing Request")
    }

    @Test(
        "A bonded peripheral that asks for more than its bond gives gets it once the bond has encrypted the link",
        arguments: [true, false])
    func upgrade(encryptsAtConnection: Bool) throws {
        let before = TwoHosts()
        before.connect()
        #expect(before.pair()?.pairing != nil)
        before.run(for: .seconds(2))
        var settings = TwoHosts.Settings.passkey
        settings.central.encryptsAtConnection = encryptsAtConnection
        settings.peripheral.requestsSecurity = true
        let two = TwoHosts(
            settings, bonds: [.central: before.bonds(.central), .peripheral: before.bonds(.peripheral)])
        two.connect()
        two.run(for: .seconds(10))
        #expect(two.bonds(.central).map(\.isAuthenticated) == [true])
        #expect(two.bonds(.peripheral).map(\.isAuthenticated) == [true])
        let events = two.engine(.central).events
        let encrypted = try #require(
            events.firstIndex { if case .encryptionChanged(_, let now) = $0 { now.isEncrypted } else { false } })
        let started = try #require(
            events.firstIndex { if case .pairing(_, .started) = $0 { true } else { false } })
        #expect(encrypted < started)
    }

    // MARK: Removed bonds

    @Test("A bond that is removed while its device pairs again does not come back", arguments: 0..<14)
    func removedWhilePairing(step: Int) throws {
        let before = TwoHosts()
        before.connect()
        #expect(before.pair()?.pairing != nil)
        before.run(for: .seconds(2))
        let two = TwoHosts(bonds: [.central: before.bonds(.central), .peripheral: before.bonds(.peripheral)])
        two.connect()
        two.run(for: .seconds(2))
        #expect(try pairAndRemove(two, step: step) == .success(.accepted(true)))
        #expect(two.bonds(.central).isEmpty)
    }

    @Test("A device that is forgotten while it pairs for the first time leaves no bond", arguments: [0, 3, 6])
    func removedWhilePairingFirst(step: Int) throws {
        let two = TwoHosts()
        two.connect()
        #expect(try pairAndRemove(two, step: step) == .success(.accepted(false)))
        #expect(two.bonds(.central).isEmpty)
        #expect(two.failures(.central) == [.linkLost])
    }

    /// Removes the bond once so many PDUs of pairing went over the air.
    private func pairAndRemove(_ two: TwoHosts, step: Int) throws -> Result<HostResult, HostFailure>? {
        let link = try #require(two.link(.central))
        var sent = 0
        two.change = { _, packet in
            if opcode(packet) != nil { sent += 1 }
            return packet
        }
        two.submit(.security(.pair(link, nil)), by: .central)
        two.run(for: .seconds(20)) { sent > step }
        let result = two.result(of: .security(.removeBond(TwoHosts.peripheralAddress)), by: .central)
        two.run(for: .seconds(10))
        return result
    }
}
