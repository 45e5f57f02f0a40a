import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Pairing, encryption and bonds between two whole engines.
@Suite struct HostPairingTests {
    private func summary(_ result: Result<HostResult, HostFailure>?) -> PairingSummary? {
        if case .success(.paired(let summary))? = result { summary } else { nil }
    }

    @Test("Pairing encrypts the link, leaves a bond on both sides and opens the encrypted value (SEC-1, SEC-4)")
    func justWorks() throws {
        let two = TwoHosts()
        #expect(two.connect())
        let paired = try #require(summary(two.pair()))
        #expect(paired.isSecureConnections && !paired.isAuthenticated && paired.isBonded && paired.keySize == 16)
        two.run(for: .seconds(2))
        #expect(two.security(.central)?.isEncrypted == true)
        #expect(two.security(.peripheral)?.isEncrypted == true)
        let central = try #require(two.bonds(.central).first)
        let peripheral = try #require(two.bonds(.peripheral).first)
        #expect(central.identity == TwoHosts.peripheralAddress && peripheral.identity == TwoHosts.centralAddress)
        #expect(central.peerKey == peripheral.localKey)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("A value that needs encryption pairs on demand and is read once more (SPEC 2.3, SEC-2, scenario 24)")
    func onDemand() {
        let two = TwoHosts()
        two.connect()
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
        #expect(two.bonds(.central).count == 1)
        #expect(two.pairingEvents(.central).contains(.started))
    }

    @Test("A passkey is shown on one side and typed on the other; the value that needs it can be read (SEC-3)")
    func passkey() {
        let two = TwoHosts(.passkey)
        two.connect()
        #expect(two.read(3) == .success(.gatt(.value([0x03]))))
        #expect(two.bonds(.central).first?.isAuthenticated == true)
        #expect(two.passkey != nil)
    }

    @Test("Without a better key to be had, an authenticated value is refused with 0x05")
    func insufficientAuthentication() {
        let two = TwoHosts()
        two.connect()
        #expect(two.read(3) == .failure(.gatt(.att(.insufficientAuthentication, handle: two.handle(3)))))
        #expect(two.pairingEvents(.central).count { $0 == .started } == 1)
    }

    @Test("A key too short for a value leads to one new pairing and then to 0x0C")
    func keySize() {
        var settings = TwoHosts.Settings()
        settings.peripheral.pairing.maximumKeySize = 8
        settings.peripheral.pairing.minimumKeySize = 7
        settings.central.pairing.minimumKeySize = 7
        let two = TwoHosts(settings)
        two.connect()
        #expect(summary(two.pair())?.keySize == 8)
        #expect(two.read(6) == .failure(.gatt(.att(.insufficientEncryptionKeySize, handle: two.handle(6)))))
        #expect(two.pairingEvents(.central).count { $0 == .started } == 2)
    }

    @Test("Authorization is the app's matter: 0x08 does not pair")
    func authorization() {
        let two = TwoHosts()
        two.connect()
        #expect(two.read(7) == .failure(.gatt(.att(.insufficientAuthorization, handle: two.handle(7)))))
        #expect(two.pairingEvents(.central).isEmpty)
    }

    @Test("Legacy pairing distributes keys that encrypt the next link in both roles")
    func legacy() throws {
        var settings = TwoHosts.Settings()
        settings.central.pairing.allowsSecureConnections = false
        let two = TwoHosts(settings)
        two.connect()
        let paired = try #require(summary(two.pair()))
        #expect(!paired.isSecureConnections)
        two.run(for: .seconds(2))
        let bond = try #require(two.bonds(.central).first)
        #expect(bond.localKey != bond.peerKey && bond.peerKey?.randomNumber != 0)
        two.disconnect()
        two.forget()
        two.connect()
        two.run(for: .seconds(2))
        #expect(two.security(.central)?.isEncrypted == true)
        #expect(!two.pairingEvents(.central).contains(.started))
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("A bonded peer is encrypted at connection without pairing, with bonds that were restored from a store")
    func bondedReconnect() {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        let later = TwoHosts(bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(2))
        #expect(later.security(.central)?.isEncrypted == true && later.security(.peripheral)?.isEncrypted == true)
        #expect(later.pairingEvents(.central).isEmpty)
        #expect(later.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test(
        "With a bond the first operation encrypts the link where that was not done at once, also without pairing on demand"
    )
    func encryptionOnDemand() {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let later = TwoHosts(
            settings, bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(2))
        #expect(later.security(.central) == nil)
        #expect(later.read(2) == .success(.gatt(.value([0x02]))))
        #expect(later.pairingEvents(.central).isEmpty)
        settings.central.pairsOnDemand = false
        let plain = TwoHosts(
            settings, bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        plain.connect()
        #expect(plain.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("A bond lost at the peer is told as such, and never answered by pairing in silence")
    func bondLostAtPeer() {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        let later = TwoHosts(bonds: [.central: two.bonds(.central)])
        later.connect()
        later.run(for: .seconds(3))
        #expect(later.failures(.central) == [.keyMissingAtPeer])
        #expect(later.failures(.peripheral) == [.noKey])
        #expect(later.read(2) == .failure(.gatt(.security(.keyMissingAtPeer))))
        #expect(later.read(1) == .failure(.gatt(.security(.keyMissingAtPeer))))
        #expect(!later.pairingEvents(.central).contains(.started))
        #expect(later.bonds(.central).count == 1)
        // Once the bond is removed, pairing is as with a stranger.
        #expect(
            later.result(of: .security(.removeBond(TwoHosts.peripheralAddress)), by: .central)
                == .success(.accepted(true)))
        later.run(for: .seconds(3))
        later.connect()
        #expect(later.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("A bond lost at the central is replaced at the peripheral by its user's word alone, and by nothing weaker")
    func bondLostHere() throws {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        let old = try #require(two.bonds(.peripheral).first)
        for says in [false, true] {
            let later = TwoHosts(bonds: [.peripheral: [old]])
            var asked: [PairingQuestion.Kind] = []
            later.answer = { side, kind in
                if side == .peripheral { asked.append(kind) }
                return .confirm(says)
            }
            later.connect()
            let result = later.pair()
            later.run(for: .seconds(2))
            #expect(asked == [.replaceBond(TwoHosts.centralAddress)])
            if says {
                #expect(summary(result)?.isBonded == true)
                #expect(later.read(2) == .success(.gatt(.value([0x02]))))
                #expect(later.bonds(.peripheral).count == 1)
                #expect(later.bonds(.peripheral).first?.localKey != old.localKey)
            } else {
                #expect(later.failures(.peripheral) == [.wouldReplaceBond])
                #expect(later.bonds(.peripheral) == [old])
            }
        }
        var authenticated = old
        authenticated.isAuthenticated = true
        let strict = TwoHosts(bonds: [.peripheral: [authenticated]])
        strict.answer = { _, _ in .confirm(true) }
        strict.connect()
        #expect(
            strict.pair() == .failure(.security(.refusedByPeer(.authenticationRequirements))))
        #expect(strict.bonds(.peripheral) == [authenticated])
    }

    @Test("Keys that differ end the link, and the reason is told")
    func differentKeys() throws {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        var bond = try #require(two.bonds(.central).first)
        bond.peerKey?.key = Key128(rawValue: 5)
        let later = TwoHosts(bonds: [.central: [bond], .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(3))
        #expect(later.failures(.central) == [.keyMissingAtPeer])
    }

    @Test("Two bonds with the same address: the later one holds")
    func sameAddress() {
        let two = TwoHosts(bonds: [
            .central: [
                Bond(identity: TwoHosts.peripheralAddress, keySize: 7),
                Bond(identity: TwoHosts.peripheralAddress, keySize: 9),
                Bond(identity: DeviceAddress(value: TwoHosts.peripheralAddress.value, kind: .random), keySize: 11),
            ]
        ])
        #expect(two.bonds(.central).map(\.keySize) == [9, 11])
    }

    @Test("Pairing while pairing: the second command is refused, the first goes on")
    func pairingWhilePairing() throws {
        let two = TwoHosts()
        two.connect()
        let link = try #require(two.link(.central))
        let first = two.submit(.security(.pair(link, nil)), by: .central)
        #expect(two.result(of: .security(.pair(link, nil)), by: .central) == .failure(.security(.alreadyPairing)))
        two.run(for: .seconds(10)) { two.result(of: first, .central) != nil }
        #expect(summary(two.result(of: first, .central)) != nil)
    }

    @Test("An operation refused while pairing runs waits for it")
    func operationWhilePairing() throws {
        let two = TwoHosts()
        two.connect()
        let link = try #require(two.link(.central))
        two.submit(.security(.pair(link, nil)), by: .central)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
        #expect(two.pairingEvents(.central).count { $0 == .started } == 1)
    }

    @Test("Disconnection at each step ends pairing, once, on both sides, and leaves no bond", arguments: 0..<16)
    func disconnectionAtEachStep(step: Int) throws {
        let two = TwoHosts(.passkey)
        two.connect()
        let link = try #require(two.link(.central))
        var sent = 0
        two.change = { _, packet in
            // ACL data for the Security Manager's channel.
            if packet.first == 2, packet.count > 8, packet[7] == 6 { sent += 1 }
            return packet
        }
        let operation = two.submit(.security(.pair(link, nil)), by: .central)
        two.run(for: .seconds(20)) { sent > step }
        two.submit(.link(link, .disconnect), by: .central)
        two.run(for: .seconds(10))
        #expect(two.result(of: operation, .central) != nil)
        #expect(two.failures(.central) == [.linkLost])
        #expect(two.failures(.peripheral).count == 1)
        #expect(two.bonds(.central).isEmpty && two.bonds(.peripheral).isEmpty)
        // And it can be done again.
        two.change = { $1 }
        two.connect()
        #expect(summary(two.pair()) != nil)
    }

    @Test("Silence of 30 s ends pairing, and there is no more of it until the link is made anew (3.4)")
    func silence() {
        let two = TwoHosts()
        two.connect()
        two.change = { side, packet in
            side == .peripheral && packet.first == 2 && packet.count > 8 && packet[7] == 6 ? nil : packet
        }
        #expect(two.pair() == .failure(.security(.timedOut)))
        two.change = { $1 }
        #expect(two.pair() == .failure(.security(.timedOut)))
        two.disconnect()
        two.connect()
        #expect(summary(two.pair()) != nil)
    }

    @Test("A wrong passkey makes the next try wait, each time longer (2.3.6)")
    func repeatedAttempts() {
        let two = TwoHosts(.passkey)
        two.connect()
        let right = two.answer
        two.answer = { _, _ in .passkey(((two.passkey ?? 0) + 1) % 1_000_000) }
        #expect(two.pair() == .failure(.security(.refusedByPeer(.confirmValueFailed))))
        guard case .failure(.security(.repeatedAttempts))? = two.pair() else {
            Issue.record("a second try at once")
            return
        }
        two.run(for: .seconds(2))
        #expect(two.pair() == .failure(.security(.refusedByPeer(.confirmValueFailed))))
        two.run(for: .seconds(1))
        guard case .failure(.security(.repeatedAttempts))? = two.pair() else {
            Issue.record("the second wait is as short as the first")
            return
        }
        two.run(for: .seconds(2))
        two.answer = right
        #expect(summary(two.pair()) != nil)
    }

    @Test("A peripheral asks for security, and the central pairs, or encrypts where it is bonded")
    func securityRequest() {
        var settings = TwoHosts.Settings()
        settings.peripheral.requestsSecurity = true
        let two = TwoHosts(settings)
        two.connect()
        two.run(for: .seconds(5))
        #expect(two.security(.peripheral)?.isEncrypted == true)
        settings.central.encryptsAtConnection = false
        let later = TwoHosts(
            settings, bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(5))
        #expect(later.security(.peripheral)?.isEncrypted == true)
        #expect(!later.pairingEvents(.peripheral).contains(.started))
        settings.central.followsSecurityRequests = false
        let refused = TwoHosts(settings)
        refused.connect()
        refused.run(for: .seconds(5))
        #expect(refused.pairingEvents(.central) == [.securityRequested])
        #expect(refused.failures(.peripheral) == [.refusedByPeer(.pairingNotSupported)])
    }

    @Test("The peripheral's own pair command asks the central, and ends with its pairing")
    func pairByPeripheral() {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair(by: .peripheral))?.identity == TwoHosts.centralAddress)
    }

    @Test("Without a toolbox pairing is refused with Pairing Not Supported, in both roles")
    func noToolbox() {
        var settings = TwoHosts.Settings()
        settings.peripheralHasToolbox = false
        var two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByPeer(.pairingNotSupported))))
        settings = TwoHosts.Settings()
        settings.centralHasToolbox = false
        two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.notAvailable)))
        #expect(two.read(2) == .failure(.gatt(.att(.insufficientAuthentication, handle: two.handle(2)))))
    }

    @Test("A peripheral that does not accept pairing says so")
    func notAccepted() {
        var settings = TwoHosts.Settings()
        settings.peripheral.acceptsPairing = false
        let two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByPeer(.pairingNotSupported))))
    }

    @Test("Consent is asked of the one who did not begin; no ends pairing")
    func consent() {
        var settings = TwoHosts.Settings()
        settings.peripheral.pairing.asksConsent = true
        let two = TwoHosts(settings)
        two.connect()
        two.answer = { _, _ in .confirm(false) }
        #expect(two.pair() == .failure(.security(.refusedByPeer(.unspecifiedReason))))
        two.answer = { _, _ in .confirm(true) }
        #expect(summary(two.pair()) != nil)
    }

    @Test("A cancelled pair operation ends pairing on both sides")
    func cancel() throws {
        let two = TwoHosts(.passkey)
        two.answer = { _, _ in nil }
        two.connect()
        let link = try #require(two.link(.central))
        let operation = two.submit(.security(.pair(link, nil)), by: .central)
        two.run(for: .seconds(3))
        two.submit(.cancel(operation), by: .central)
        two.run(for: .seconds(3))
        #expect(two.result(of: operation, .central) == .failure(.cancelled))
        #expect(two.failures(.peripheral) == [.refusedByPeer(.unspecifiedReason)])
    }

    @Test("An answer to a question of another pairing is not taken")
    func staleAnswer() {
        let two = TwoHosts(.passkey)
        two.answer = { _, _ in nil }
        two.connect()
        #expect(
            two.result(of: .security(.answerPairing(PairingQuestionID(rawValue: 99), .passkey(1))), by: .central)
                == .success(.accepted(false)))
    }

    @Test("What a bonded client subscribed to is kept as it happens, and holds before its first request (pain 12)")
    func clientRecord() throws {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        #expect(
            two.gatt(.subscribe(two.handle(4), configuration: two.configuration(4), mode: .notifications))
                == .success(.gatt(.subscribed)))
        let record = try #require(two.bonds(.peripheral).first?.clientRecord)
        #expect(record.configurations.map(\.handle) == [two.configuration(4)])
        let later = TwoHosts(bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.submit(.server(.updateValue(later.handle(4), value: [9], links: nil)), by: .peripheral)
        #expect(
            later.gatt(.subscribe(later.handle(4), configuration: later.configuration(4), mode: .notifications))
                == .success(.gatt(.subscribed)))
        let values = later.engine(.central).events.compactMap {
            if case .gatt(_, .notification(let notification)) = $0 { notification.value } else { nil }
        }
        #expect(values == [[9]])
    }

    @Test("A signed write goes to a bonded server without encryption; a forged, old or repeated one does not")
    func signedWrite() throws {
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let two = TwoHosts(settings)
        two.connect()
        #expect(
            two.gatt(.writeSigned(two.handle(5), value: [1])) == .failure(.gatt(.security(.noKey))))
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        two.disconnect()
        // A bond whose key the central cannot encrypt with: where it has one, it does so instead of signing.
        var bond = try #require(two.bonds(.central).first)
        bond.peerKey = nil
        two.submit(.security(.restoreBonds([bond])), by: .central)
        two.connect()
        func writes() -> [[UInt8]] {
            two.engine(.peripheral).events.compactMap {
                if case .server(.write(let request)) = $0 { request.writes.first?.value } else { nil }
            }
        }
        var sent: [[UInt8]] = []
        two.change = { side, packet in
            if side == .central, packet.count > 9, packet.first == 2, packet[9] == 0xD2 { sent.append(packet) }
            return packet
        }
        #expect(two.gatt(.writeSigned(two.handle(5), value: [1])) == .success(.gatt(.written)))
        #expect(two.gatt(.writeSigned(two.handle(5), value: [2])) == .success(.gatt(.written)))
        two.run(for: .seconds(1))
        #expect(writes() == [[1], [2]])
        // Of ours a block is set aside.
        #expect(two.bonds(.central).first?.localSigningKey?.counter == SigningNumbers.block)
        #expect(two.bonds(.peripheral).first?.peerSigningKey?.counter == 2)
        // The third is forged on its way.
        two.change = { side, packet in
            guard side == .central, packet.count > 9, packet.first == 2, packet[9] == 0xD2 else { return packet }
            var packet = packet
            packet[packet.count - 1] ^= 1
            return packet
        }
        #expect(two.gatt(.writeSigned(two.handle(5), value: [3])) == .success(.gatt(.written)))
        // The fourth is the first again.
        two.change = { side, packet in
            side == .central && packet.count > 9 && packet.first == 2 && packet[9] == 0xD2 ? sent[0] : packet
        }
        #expect(two.gatt(.writeSigned(two.handle(5), value: [4])) == .success(.gatt(.written)))
        two.run(for: .seconds(1))
        #expect(writes() == [[1], [2]])
    }

    @Test("Requests that come while the key is changed wait for the end of it")
    func heldTraffic() {
        let two = TwoHosts()
        two.connect()
        #expect(summary(two.pair()) != nil)
        // A second pairing refreshes the key under running traffic.
        let link = two.link(.central)!
        let again = two.submit(.security(.pair(link, PairingOptions(replacesBond: true))), by: .central)
        for _ in 0..<20 { #expect(two.read(2) == .success(.gatt(.value([0x02])))) }
        two.run(for: .seconds(5)) { two.result(of: again, .central) != nil }
        #expect(summary(two.result(of: again, .central)) != nil)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("No description of a bond, an event or a setting shows a key")
    func secrets() throws {
        var settings = TwoHosts.Settings()
        settings.central.pairing.allowsSecureConnections = false
        let two = TwoHosts(settings)
        two.connect()
        #expect(summary(two.pair()) != nil)
        two.run(for: .seconds(2))
        for side in TwoHosts.Side.allCases {
            let bond = try #require(two.bonds(side).first)
            var text = "\(bond) \(String(reflecting: bond)) \(HostEvent.bondChanged(bond))"
            dump(bond, to: &text)
            dump(HostEvent.bondChanged(bond), to: &text)
            dump(two.engine(side).events, to: &text)
            for key in [bond.localKey?.key, bond.peerKey?.key, bond.localSigningKey?.key].compactMap({ $0 }) {
                #expect(!text.contains(String(key.rawValue)))
                #expect(!text.lowercased().contains(String(key.rawValue, radix: 16)))
            }
        }
    }
}
