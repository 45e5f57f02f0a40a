import BLEPackets
import Testing

@testable import BLEHost

/// Whoever waits for the security of a link hears of its end, whichever way it comes (SPEC SEC-2).
@Suite("Ends of security operations")
struct SecurityEndTests {
    private func bonded() -> TwoHosts {
        let first = TwoHosts()
        first.connect()
        _ = first.pair()
        first.run(for: .seconds(2))
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let two = TwoHosts(settings, bonds: [.central: first.bonds(.central), .peripheral: first.bonds(.peripheral)])
        two.connect()
        return two
    }

    private func losesSecurityRequests(of two: TwoHosts) {
        two.change = { side, packet in
            side == .peripheral && packet.first == 2 && packet.count > 8 && packet[7] == 6 ? nil : packet
        }
    }

    @Test("the peripheral's pair command ends with the bond's key if the central encrypts instead of pairing")
    func encryptedInstead() {
        let two = bonded()
        guard case .success(.paired(let summary))? = two.pair(by: .peripheral) else {
            Issue.record("no end")
            return
        }
        #expect(
            summary
                == PairingSummary(
                    identity: TwoHosts.centralAddress, isSecureConnections: true, isAuthenticated: false, keySize: 16,
                    isBonded: true, wasBonded: true))
        #expect(two.security(.peripheral)?.isEncrypted == true)
        #expect(!two.pairingEvents(.peripheral).contains(.started))
    }

    @Test("a bond's key that is weaker than what the peripheral asked for does not complete its pair command")
    func tooWeak() throws {
        let two = bonded()
        let options = PairingOptions(ioCapability: .displayOnly, requiresAuthentication: true)
        let link = try #require(two.link(.peripheral))
        losesSecurityRequests(of: two)
        let pairing = two.submit(.security(.pair(link, options)), by: .peripheral)
        two.submit(.security(.encrypt(try #require(two.link(.central)))), by: .central)
        two.run(for: .seconds(5))
        #expect(two.security(.peripheral)?.isEncrypted == true)
        // The central may yet pair for a better one.
        #expect(two.result(of: pairing, .peripheral) == nil)
        two.run(for: .seconds(60))
        #expect(two.result(of: pairing, .peripheral) == .failure(.security(.timedOut)))
    }

    @Test("it ends with the failure if the bond's key does not fit")
    func doesNotFit() throws {
        let two = bonded()
        let link = try #require(two.link(.peripheral))
        // The controller does not take the key that the peripheral gives.
        two.change = { side, packet in
            guard side == .peripheral, packet.count > 6, packet[0] == 1, packet[1] == 0x1A, packet[2] == 0x20 else {
                return packet
            }
            return [1, 0x1B, 0x20, 2, packet[4], packet[5]]
        }
        let pairing = two.submit(.security(.pair(link, nil)), by: .peripheral)
        two.run(for: .seconds(600))
        guard case .failure? = two.result(of: pairing, .peripheral) else {
            Issue.record("no end")
            return
        }
    }

    @Test("a client that waits for another client's pairing is told of its cancellation")
    func cancelled() throws {
        let two = TwoHosts()
        two.connect()
        losesSecurityRequests(of: two)
        let link = try #require(two.link(.peripheral))
        let pairing = two.submit(.security(.pair(link, nil)), by: .peripheral)
        let encrypting = two.submit(.security(.encrypt(link)), by: .peripheral)
        two.submit(.cancel(pairing), by: .peripheral)
        #expect(two.result(of: pairing, .peripheral) == .failure(.cancelled))
        #expect(two.result(of: encrypting, .peripheral) == .failure(.security(.cancelled)))
    }

    @Test("an unanswered question for consent counts as no after 25 s, and pairing may be tried again on the link")
    func unanswered() {
        var settings = TwoHosts.Settings()
        settings.central.pairing.asksConsent = true
        let two = TwoHosts(settings)
        two.answer = { _, _ in nil }
        two.connect()
        #expect(two.read(2) == .failure(.gatt(.att(.insufficientAuthentication, handle: two.handle(2)))))
        #expect(two.failures(.central) == [.refusedByUs(.unspecifiedReason)])
        two.run(for: .seconds(2))
        two.answer = { _, _ in .confirm(true) }
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("an answer of another kind than the question leaves it open, and the right one is accepted")
    func otherKind() throws {
        let two = TwoHosts(.passkey)
        two.answer = { _, _ in nil }
        two.connect()
        let link = try #require(two.link(.central))
        let pairing = two.submit(.security(.pair(link, nil)), by: .central)
        func question() -> PairingQuestion? {
            two.pairingEvents(.central).lazy.compactMap {
                if case .question(let question) = $0 { question } else { nil }
            }.first
        }
        two.run(for: .seconds(10)) { question() != nil }
        let id = try #require(question()).id
        #expect(
            two.result(of: .security(.answerPairing(id, .confirm(true))), by: .central) == .success(.accepted(false)))
        let passkey = try #require(two.passkey)
        #expect(
            two.result(of: .security(.answerPairing(id, .passkey(passkey))), by: .central) == .success(.accepted(true)))
        two.run(for: .seconds(10)) { two.result(of: pairing, .central) != nil }
        guard case .success(.paired)? = two.result(of: pairing, .central) else {
            Issue.record("not paired")
            return
        }
    }
}
