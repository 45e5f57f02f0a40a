import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Pairing, encryption and bonds between two whole engines.
@Suite struct HostPairingTests {
    @Test("Pairing encrypts the link, leaves a bond on both sides and opens the encrypted value (SEC-1, SEC-4)")
    func justWorks() throws {
        let two = TwoHosts()
        #expect(two.connect())
        let paired = try #require(two.pair()?.pairing)
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

    @Test("A value that needs encryption pairs on demand and is read again (SPEC 2.3, SEC-2, scenario 24)")
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

    @Test("If no better key is possible, an authenticated value is refused with 0x05")
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
        #expect(two.pair()?.pairing?.keySize == 8)
        #expect(two.read(6) == .failure(.gatt(.att(.insufficientEncryptionKeySize, handle: two.handle(6)))))
        #expect(two.pairingEvents(.central).count { $0 == .started } == 2)
    }

    @Test("Authorization is up to the app: 0x08 does not pair")
    func authorization() {
        let two = TwoHosts()
        two.connect()
        #expect(two.read(7) == .failure(.gatt(.att(.insufficientAuthorization, handle: two.handle(7)))))
        #expect(two.pairingEvents(.central).isEmpty)
    }

    @Test("Pairing while pairing: the second command is refused, the first goes on")
    func pairingWhilePairing() throws {
        let two = TwoHosts()
        two.connect()
        let link = try #require(two.link(.central))
        let first = two.submit(.security(.pair(link, nil)), by: .central)
        #expect(two.result(of: .security(.pair(link, nil)), by: .central) == .failure(.security(.alreadyPairing)))
        two.run(for: .seconds(10)) { two.result(of: first, .central) != nil }
        #expect(two.result(of: first, .central)?.pairing != nil)
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
        #expect(two.pair()?.pairing != nil)
    }

    @Test("Silence of 30 s ends pairing, and the link does not pair again until it is reconnected (3.4)")
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
        #expect(two.pair()?.pairing != nil)
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
        #expect(two.pair()?.pairing != nil)
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
        #expect(two.pair(by: .peripheral)?.pairing?.identity == TwoHosts.centralAddress)
    }

    @Test("Without a crypto provider pairing is refused with Pairing Not Supported, in both roles")
    func noCryptoProvider() {
        var settings = TwoHosts.Settings()
        settings.peripheralHasCryptoProvider = false
        var two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByPeer(.pairingNotSupported))))
        settings = TwoHosts.Settings()
        settings.centralHasCryptoProvider = false
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

    @Test("The side that did not start is asked for consent; refusing ends pairing")
    func consent() {
        var settings = TwoHosts.Settings()
        settings.peripheral.pairing.asksConsent = true
        let two = TwoHosts(settings)
        two.connect()
        two.answer = { _, _ in .confirm(false) }
        #expect(two.pair() == .failure(.security(.refusedByPeer(.unspecifiedReason))))
        two.answer = { _, _ in .confirm(true) }
        #expect(two.pair() == .failure(.security(.refusedByPeer(.repeatedAttempts))))
        two.run(for: .seconds(2))
        #expect(two.pair()?.pairing != nil)
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

    @Test("An answer to a question of another pairing is ignored")
    func staleAnswer() {
        let two = TwoHosts(.passkey)
        two.answer = { _, _ in nil }
        two.connect()
        #expect(
            two.result(of: .security(.answerPairing(PairingQuestionID(rawValue: 99), .passkey(1))), by: .central)
                == .success(.accepted(false)))
    }

    @Test("Requests that arrive during a change of key wait for its end")
    func heldTraffic() {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
        // A second pairing refreshes the key under running traffic.
        let link = two.link(.central)!
        let again = two.submit(.security(.pair(link, PairingOptions(replacesBond: true))), by: .central)
        for _ in 0..<20 { #expect(two.read(2) == .success(.gatt(.value([0x02])))) }
        two.run(for: .seconds(5)) { two.result(of: again, .central) != nil }
        #expect(two.result(of: again, .central)?.pairing != nil)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("No description of a bond, an event or a setting shows a key")
    func secrets() throws {
        var settings = TwoHosts.Settings()
        settings.central.pairing.allowsSecureConnections = false
        let two = TwoHosts(settings)
        two.connect()
        #expect(two.pair()?.pairing != nil)
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
