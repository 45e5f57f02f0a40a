import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// What a central does when a peripheral asks for security (Core 5.4, Vol 3, Part H, 2.4.6).
@Suite("Security Requests of a peripheral")
struct SecurityRequestTests {
    private static let bonding: [UInt8] = [0x0B, 0x01]
    private static let bondingWithMITM: [UInt8] = [0x0B, 0x05]

    private func ask(_ rig: HostRig, _ request: [UInt8] = bonding) {
        rig.receive(frame: request, channel: 6, handle: 0x40)
    }

    private func refreshed(_ rig: HostRig) {
        rig.receive(EncryptionKeyRefreshComplete(status: .success, connectionHandle: BondProofTests.handle))
    }

    private func isStarted(_ two: TwoHosts) -> Int {
        two.pairingEvents(.central).count { $0 == .started }
    }

    /// A peripheral without input and output that always asks for protection against a man in the middle.
    private var settings: TwoHosts.Settings {
        var settings = TwoHosts.Settings()
        settings.central.pairing.ioCapability = .keyboardDisplay
        settings.peripheral.pairing.prefersAuthentication = true
        settings.peripheral.requestsSecurity = true
        return settings
    }

    private func bonds(_ two: TwoHosts, _ change: (inout Bond) -> Void = { _ in }) -> [TwoHosts.Side: [Bond]] {
        var bonds: [TwoHosts.Side: [Bond]] = [:]
        for side in TwoHosts.Side.allCases {
            bonds[side] = two.bonds(side).map { bond in
                var bond = bond
                change(&bond)
                return bond
            }
        }
        return bonds
    }

    // MARK: Protection against a man in the middle

    @Test(
        "a peripheral that asks for protection against a man in the middle and cannot provide it is paired with (Core 5.4, Vol 3, Part H, 2.3.5.1)"
    )
    func wishIsNoRequirement() {
        let two = TwoHosts(settings)
        two.connect()
        two.run(for: .seconds(5))
        #expect(two.failures(.central).isEmpty && isStarted(two) == 1)
        #expect(two.security(.central)?.isEncrypted == true && two.security(.central)?.isAuthenticated == false)
        #expect(two.bonds(.central).map(\.insufficientCapability) == [.keyboardDisplay])
    }

    @Test("a requirement of our own stays one when a peripheral asks for security (Core 5.4, Vol 3, Part H, 2.3.5.1)")
    func ownRequirement() {
        var settings = settings
        settings.central.pairing.requiresAuthentication = true
        let two = TwoHosts(settings)
        two.connect()
        two.run(for: .seconds(5))
        #expect(two.failures(.central) == [.refusedByUs(.authenticationRequirements)])
        #expect(two.bonds(.central).isEmpty)
    }

    @Test("a bond that no pairing can improve is used as it is on later links (Core 5.4, Vol 3, Part H, 2.4.6)")
    func pairsOnce() {
        let first = TwoHosts(settings)
        first.connect()
        first.run(for: .seconds(5))
        let second = TwoHosts(settings, bonds: bonds(first))
        second.connect()
        second.run(for: .seconds(10))
        #expect(second.security(.central)?.isEncrypted == true && isStarted(second) == 0)
        // A bond of a pairing that did not ask for more is improved once.
        let older = TwoHosts(settings, bonds: bonds(first) { $0.insufficientCapability = nil })
        older.connect()
        older.run(for: .seconds(10))
        #expect(isStarted(older) == 1 && older.failures(.central).isEmpty)
        #expect(older.bonds(.central).map(\.insufficientCapability) == [.keyboardDisplay])
    }

    @Test("a peripheral that asks again and again is paired with once for more than its bond gives (2.4.6)")
    func oneAttempt() {
        var settings = SecuritySettings()
        settings.pairing.ioCapability = .keyboardDisplay
        let rig = BondProofTests.connected([BondProofTests.bond()], settings)
        BondProofTests.on(rig)
        for _ in 0..<5 {
            ask(rig, Self.bondingWithMITM)
            rig.receive(frame: [0x05, 0x08], channel: 6, handle: 0x40)
            refreshed(rig)
        }
        #expect(BondProofTests.sent(rig, on: 6).count { $0.first == 0x01 } == 1)
        #expect(rig.count(of: LEEnableEncryption.opcode) == 5)
    }

    @Test(
        "a fixed passkey is used where this side asks for authentication as the initiator (Core 5.4, Vol 3, Part H, 2.3.5.1)"
    )
    func passkeyIsKept() {
        for (prefers, expected) in [(true, 123_456), (false, nil)] as [(Bool, UInt32?)] {
            let identity = HostRig.peer
            var machine = LinkSecurityMachine(
                id: LinkID(handle: BondProofTests.handle, generation: 1), role: .central, peer: identity,
                localAddress: TwoHosts.centralAddress, peerAddress: identity)
            var configuration = HostConfiguration()
            configuration.hasCryptoProvider = true
            var attempts = PairingAttempts(configuration: configuration)
            var effects = Effects()
            let options = PairingOptions(
                ioCapability: .keyboardOnly, passkey: 123_456, prefersAuthentication: prefers)
            machine.begin(
                .initiator, .init(options: options, passkeyEntriesUnderWay: 0), Bonds(configuration: configuration),
                &attempts, into: &effects)
            #expect(machine.machine?.setup.options.passkey == expected)
        }
    }

    @Test(
        "a pairing that an operation begins asks for authentication where it is possible (Core 5.4, Vol 3, Part H, 2.3.5.1)"
    )
    func onDemand() {
        for (capability, isWanted) in [(IOCapability.keyboardDisplay, true), (.noInputNoOutput, false)] {
            var settings = SecuritySettings()
            settings.pairing.ioCapability = capability
            let rig = BondProofTests.connected([], settings)
            rig.receive(frame: [0x03, 23, 0], handle: 0x40)
            rig.submit(.link(LinkID(handle: BondProofTests.handle, generation: 1), .gatt(.read(BondProofTests.value))))
            rig.receive(frame: [0x01, 0x0A, 3, 0, 0x05], handle: 0x40)
            let requests = BondProofTests.sent(rig, on: 6).filter { $0.first == 0x01 }
            #expect(requests.map { $0[3] & 0x04 != 0 } == [isWanted])
        }
    }

    // MARK: On an encrypted link

    @Test("a request on an encrypted link is answered by encrypting once more (Core 5.4, Vol 3, Part H, 2.4.6)")
    func refreshes() {
        for request in [Self.bonding, Self.bondingWithMITM] {
            let rig = BondProofTests.connected()
            BondProofTests.on(rig)
            #expect(rig.count(of: LEEnableEncryption.opcode) == 1)
            // One refresh at a time, however often it asks.
            for _ in 0..<10 { ask(rig, request) }
            #expect(rig.count(of: LEEnableEncryption.opcode) == 2)
            refreshed(rig)
            #expect(rig.count(of: LEEnableEncryption.opcode) == 2)
            ask(rig, request)
            #expect(rig.count(of: LEEnableEncryption.opcode) == 3)
            #expect(BondProofTests.sent(rig, on: 6).isEmpty && rig.count(of: Disconnect.opcode) == 0)
            // A peripheral that is never content does not keep the link busy for ever.
            for _ in 0..<20 {
                refreshed(rig)
                ask(rig, request)
            }
            #expect(rig.count(of: LEEnableEncryption.opcode) == 1 + 8)
        }
    }

    @Test("a request is not followed by a refresh where requests are not followed (SPEC SEC-2)")
    func notFollowed() {
        var settings = SecuritySettings()
        settings.followsSecurityRequests = false
        let rig = BondProofTests.connected([BondProofTests.bond()], settings)
        BondProofTests.on(rig)
        ask(rig)
        #expect(rig.count(of: LEEnableEncryption.opcode) == 1 && BondProofTests.sent(rig, on: 6).isEmpty)
    }

    @Test("values on enhanced bearers arrive while the key is being refreshed (Core 5.4, Vol 3, Part G, 5.3)")
    func bearersDuringRefresh() throws {
        var settings = TwoHosts.Settings()
        settings.bearers[.central] = EnhancedBearerSettings(opened: 1)
        settings.bearers[.peripheral] = EnhancedBearerSettings()
        let two = TwoHosts(settings)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(3))
        let (value, configuration) = (two.handle(4), two.configuration(4))
        #expect(
            two.gatt(.subscribe(value, configuration: configuration, mode: .notifications))
                == .success(.gatt(.subscribed)))
        // The controllers have not begun yet.
        var isAsked = false
        two.change = { side, packet in
            guard side == .central, packet.count > 3, packet[0] == 1, packet[1] == 0x19, packet[2] == 0x20 else {
                return packet
            }
            isAsked = true
            return nil
        }
        let link = try #require(two.link(.peripheral))
        two.submit(.security(.pair(link, PairingOptions(requiresAuthentication: true))), by: .peripheral)
        two.run(for: .seconds(1)) { isAsked }
        #expect(isAsked)
        two.submit(.server(.updateValue(value, value: [7], links: nil)), by: .peripheral)
        two.run(for: .milliseconds(500))
        let values = two.engine(.central).events.compactMap { event -> [UInt8]? in
            if case .gatt(_, .notification(let notification)) = event { notification.value } else { nil }
        }
        #expect(values == [[7]])
    }

    // MARK: Bonds without the peer's key

    private enum Reason: CaseIterable { case command, operation, request }

    private func wantSecurity(_ rig: HostRig, _ reason: Reason) {
        let link = LinkID(handle: BondProofTests.handle, generation: 1)
        switch reason {
        case .command: rig.submit(.security(.pair(link, nil)))
        case .operation:
            rig.submit(.link(link, .gatt(.read(BondProofTests.value))))
            rig.receive(frame: [0x01, 0x0A, 3, 0, 0x05], handle: 0x40)
        case .request: ask(rig)
        }
    }

    @Test("a central whose bond has no key of the peer pairs with it again (Core 5.4, Vol 3, Part H, 2.4.4)")
    func bondWithoutPeerKey() {
        for reason in Reason.allCases {
            for isAuthenticated in [false, true] {
                let bond = BondProofTests.bond(peer: nil, isAuthenticated: isAuthenticated)
                let rig = BondProofTests.connected([bond])
                rig.receive(frame: [0x03, 23, 0], handle: 0x40)
                wantSecurity(rig, reason)
                // A bond that protects against a man in the middle is replaced with the user's consent only.
                let requests = BondProofTests.sent(rig, on: 6).filter { $0.first == 0x01 }
                #expect(requests.count == (isAuthenticated ? 0 : 1), "\(reason)")
                let isAsked = rig.events.contains {
                    if case .pairing(_, .question(let question)) = $0 {
                        question.kind == .replaceBond(HostRig.peer)
                    } else {
                        false
                    }
                }
                #expect(isAsked == isAuthenticated, "\(reason)")
            }
        }
    }

    @Test("a bond without the peer's key is replaced by that of a new pairing (Core 5.4, Vol 3, Part H, 2.4.4)")
    func replacesIdleBond() {
        let before = TwoHosts()
        before.connect()
        _ = before.pair()
        before.run(for: .seconds(2))
        let idle = bonds(before) { $0.peerKey = nil }
        let two = TwoHosts(bonds: [.central: idle[.central] ?? []])
        two.connect()
        #expect(two.pair()?.pairing?.isBonded == true)
        #expect(two.bonds(.central).map { $0.peerKey != nil } == [true])
    }
}
