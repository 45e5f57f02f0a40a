import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Bonds that others would like to have: a stranger says it is somebody else, or makes us pair anew.
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

    private func isPaired(_ result: Result<HostResult, HostFailure>?) -> Bool {
        if case .success(.paired)? = result { true } else { false }
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

    @Test("A stranger that claims a bonded device's identity is refused with Key Rejected, and the bond stays as it is")
    func claimedIdentity() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        lie(two, identity: Self.victim)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [.refusedByUs(.keyRejected)])
        #expect(two.bonds(.peripheral) == [Self.bond(Self.victim)])
    }

    @Test("A stranger that shows a bonded device's resolving key as its own is refused with Key Rejected")
    func claimedKey() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        lie(two, resolvingKey: Self.key)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [.refusedByUs(.keyRejected)])
        #expect(two.bonds(.peripheral) == [Self.bond(Self.victim)])
    }

    @Test("Pairing that protects against a man in the middle may take the place of the bond of the identity it tells")
    func authenticatedClaim() {
        var settings = TwoHosts.Settings.passkey
        settings.central.identityResolvingKey = Key128(rawValue: 0x77)
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        lie(two, identity: Self.victim)
        two.connect()
        #expect(isPaired(two.pair()))
        two.run(for: .seconds(2))
        #expect(two.failures(.peripheral) == [])
        #expect(two.bonds(.peripheral).map(\.identity) == [Self.victim])
        #expect(two.bonds(.peripheral).first?.isAuthenticated == true)
    }

    @Test("Once a bond is removed its device pairs anew, whatever address it comes under")
    func pairedAfterRemoval() {
        let two = TwoHosts(settings, bonds: [.peripheral: [Self.bond(Self.victim)]])
        two.submit(.removeBond(Self.victim), by: .peripheral)
        lie(two, identity: Self.victim)
        two.connect()
        #expect(isPaired(two.pair()))
        two.run(for: .seconds(2))
        #expect(two.bonds(.peripheral).map(\.identity) == [Self.victim])
    }

    @Test("A private device whose bond has no resolving key yet may pair again under any of its addresses")
    func unresolvableDevice() throws {
        let pair = PrivateWorldTests.world([.extended, .extended], friends: [])
        let (peripheral, central) = (pair.stations[0], pair.stations[1])
        let old = Self.bond(PrivateWorldTests.identity(0), resolvingKey: nil)
        pair.submit(.restoreBonds([old]), to: central)
        pair.submit(.advertise(PrivateWorldTests.open), to: peripheral)
        let address = try #require(peripheral.ownAddress)
        let link = try #require(pair.connect(central, to: address))
        #expect(isPaired(pair.result(of: .pair(link, nil), at: central)))
        pair.run(for: .seconds(1))
        #expect(central.host.bonds.all.map(\.identity) == [PrivateWorldTests.identity(0)])
        #expect(central.host.bonds.all.first?.identityResolvingKey == PrivateWorldTests.key(0))
    }

    @Test("A new identity ends the bond of the former one where that bond's key encrypted the link, and not otherwise")
    func changedIdentity() throws {
        let before = TwoHosts()
        before.connect()
        #expect(isPaired(before.pair()))
        before.run(for: .seconds(2))
        let bonds = Dictionary(uniqueKeysWithValues: TwoHosts.Side.allCases.map { ($0, before.bonds($0)) })
        for isProven in [true, false] {
            var settings = settings
            settings.central.encryptsAtConnection = isProven
            let two = TwoHosts(settings, bonds: bonds)
            lie(two, identity: Self.stranger)
            two.connect()
            two.run(for: .seconds(2))
            #expect(isPaired(two.pair()))
            two.run(for: .seconds(2))
            let identities = two.bonds(.peripheral).map(\.identity)
            #expect(identities == (isProven ? [Self.stranger] : [TwoHosts.centralAddress, Self.stranger]))
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
        let rig = HostRig(configuration: HostConfiguration(hasToolbox: true, security: settings))
        rig.toolbox = CryptoToolbox()
        rig.start()
        rig.submit(.restoreBonds([Self.bond(HostRig.peer)]))
        rig.submit(.connect(ConnectRequest(peer: HostRig.peer)))
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
        "A bonded peripheral that asks for more than its bond gives has it once the bond has encrypted the link",
        arguments: [true, false])
    func upgrade(encryptsAtConnection: Bool) throws {
        let before = TwoHosts()
        before.connect()
        #expect(isPaired(before.pair()))
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

    @Test("A bond that is removed while its device pairs anew does not come back", arguments: 0..<14)
    func removedWhilePairing(step: Int) throws {
        let before = TwoHosts()
        before.connect()
        #expect(isPaired(before.pair()))
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
        two.submit(.pair(link, nil), by: .central)
        two.run(for: .seconds(20)) { sent > step }
        let result = two.result(of: .removeBond(TwoHosts.peripheralAddress), by: .central)
        two.run(for: .seconds(10))
        return result
    }
}
