import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Pairing, encryption and bonds between two whole engines.
@Suite struct HostBondTests {
    @Test("Legacy pairing distributes keys that encrypt the next link in both roles")
    func legacy() throws {
        var settings = TwoHosts.Settings()
        settings.central.pairing.allowsSecureConnections = false
        let two = TwoHosts(settings)
        two.connect()
        let paired = try #require(two.pair()?.pairing)
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

    @Test("The link to a bonded peer is encrypted at connection without pairing, also with bonds restored from a store")
    func bondedReconnect() {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        let later = TwoHosts(bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(2))
        #expect(later.security(.central)?.isEncrypted == true && later.security(.peripheral)?.isEncrypted == true)
        #expect(later.pairingEvents(.central).isEmpty)
        #expect(later.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test(
        "With a bond, the first operation encrypts a link that was not encrypted at connection, also without pairing on demand"
    )
    func encryptionOnDemand() {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
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

    @Test(
        "An operation of a client that may not pair gets the peer's refusal; with a bond, it is repeated with its key")
    func clientWithoutPairing() {
        var settings = TwoHosts.Settings()
        settings.central.clientsWithoutPairing = [.local]
        settings.central.encryptsAtConnection = false
        let strangers = TwoHosts(settings)
        strangers.connect()
        #expect(strangers.read(1) == .success(.gatt(.value([0x01]))))
        guard case .failure(.gatt(.att(let error, _)))? = strangers.read(2) else {
            Issue.record("no refusal")
            return
        }
        #expect(error.isCuredBySecurity)
        #expect(strangers.pairingEvents(.central).isEmpty)
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        let bonded = TwoHosts(
            settings, bonds: [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)])
        bonded.connect()
        #expect(bonded.read(2) == .success(.gatt(.value([0x02]))))
        #expect(!bonded.pairingEvents(.central).contains(.started))
    }

    @Test("A bond lost at the peer is reported as such, and never replaced by a silent pairing")
    func bondLostAtPeer() {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
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

    @Test("A bond lost at the central is replaced at the peripheral only if its user agrees, and by nothing weaker")
    func bondLostHere() throws {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
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
                #expect(result?.pairing?.isBonded == true)
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

    @Test("Different keys end the link, and the reason is reported")
    func differentKeys() throws {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        var bond = try #require(two.bonds(.central).first)
        bond.peerKey?.key = Key128(rawValue: 5)
        let later = TwoHosts(bonds: [.central: [bond], .peripheral: two.bonds(.peripheral)])
        later.connect()
        later.run(for: .seconds(3))
        #expect(later.failures(.central) == [.keyMissingAtPeer])
    }

    @Test("Two bonds with the same address: the later one applies")
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

    @Test("A bonded client's subscriptions are saved at once, and apply before its first request (pain 12)")
    func clientRecord() throws {
        let two = TwoHosts()
        two.connect()
        #expect(two.pair()?.pairing != nil)
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
        #expect(two.pair()?.pairing != nil)
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
}
