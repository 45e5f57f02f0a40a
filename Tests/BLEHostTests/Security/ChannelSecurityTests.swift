import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Channels that a peer opens to nobody but those that it trusts.
@Suite("Security of credit-based channels")
struct ChannelSecurityTests {
    private func hosts(_ settings: TwoHosts.Settings = .init(), bonds: [TwoHosts.Side: [Bond]] = [:]) -> TwoHosts {
        let hosts = TwoHosts(settings, bonds: bonds)
        hosts.connect()
        _ = hosts.result(
            of: .channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: true)), by: .peripheral)
        return hosts
    }

    private func open(_ hosts: TwoHosts) -> Result<HostResult, HostFailure>? {
        guard let link = hosts.link(.central) else { return nil }
        return hosts.result(of: .channel(.open(link, spsm: 0x80, ChannelSettings())), by: .central)
    }

    @Test("a channel refused with 0x0005 is opened after an automatic pairing (Core 5.4, Vol 3, Part C, 10.3.1)")
    func pairsOnDemand() {
        let hosts = hosts()
        guard case .success(.channel)? = open(hosts) else {
            Issue.record("no channel")
            return
        }
        #expect(hosts.bonds(.central).count == 1)
        #expect(hosts.security(.central)?.isEncrypted == true)
    }

    @Test("a channel refused with 0x0008 is opened once the bond has encrypted the link, without pairing")
    func encryptsOnDemand() {
        let first = hosts()
        _ = open(first)
        var settings = TwoHosts.Settings()
        settings.central.encryptsAtConnection = false
        let hosts = hosts(settings, bonds: [.central: first.bonds(.central), .peripheral: first.bonds(.peripheral)])
        #expect(hosts.security(.central) == nil)
        guard case .success(.channel)? = open(hosts) else {
            Issue.record("no channel")
            return
        }
        #expect(hosts.pairingEvents(.central).isEmpty)
    }

    @Test("if pairing fails, or is off, the peer's refusal is reported once")
    func refused() {
        var settings = TwoHosts.Settings()
        settings.peripheral.acceptsPairing = false
        #expect(open(hosts(settings)) == .failure(.channel(.refused(.insufficientAuthentication))))
        settings = TwoHosts.Settings()
        settings.central.pairsOnDemand = false
        #expect(open(hosts(settings)) == .failure(.channel(.refused(.insufficientAuthentication))))
    }

    @Test("an opening that waits for pairing ends with its cancellation, and with the link")
    func ended() {
        for isCancelled in [true, false] {
            var settings = TwoHosts.Settings.passkey
            settings.central.pairing.requiresAuthentication = true
            let hosts = hosts(settings)
            hosts.answer = { _, _ in nil }
            guard let link = hosts.link(.central) else {
                Issue.record("no link")
                return
            }
            let operation = hosts.submit(.channel(.open(link, spsm: 0x80, ChannelSettings())), by: .central)
            hosts.run(for: .seconds(2))
            #expect(hosts.result(of: operation, .central) == nil)
            if isCancelled {
                hosts.submit(.cancel(operation), by: .central)
                #expect(hosts.result(of: operation, .central) == .failure(.cancelled))
            } else {
                hosts.disconnect()
                #expect(hosts.result(of: operation, .central) != nil)
            }
        }
    }

    /// Opens a channel from the peer's side, and takes the result of the answer.
    private func ask(_ rig: HostRig, spsm: UInt8 = 0x80) -> UInt8? {
        rig.forget()
        rig.receive(frame: [0x14, 9, 10, 0, spsm, 0, 0x40, 0, 64, 0, 64, 0, 1, 0], channel: 5, handle: 0x40)
        return BondProofTests.sent(rig, on: 5).first { $0[0] == 0x15 }.map { $0[12] }
    }

    @Test("a listener looks at the key in use: encryption, authentication and size (Core 5.4, Vol 3, Part C, 10.3.1)")
    func acceptor() {
        for (isAuthenticated, keySize, demand, expected) in [
            (false, 16, nil, 0), (false, 16, ChannelSecurity(requiresAuthentication: true), 5),
            (true, 16, ChannelSecurity(requiresAuthentication: true, minimumKeySize: 16), 0),
            (true, 8, ChannelSecurity(minimumKeySize: 16), 7),
        ] as [(Bool, UInt8, ChannelSecurity?, UInt8)] {
            var bond = BondProofTests.bond(isAuthenticated: isAuthenticated)
            bond.keySize = keySize
            var settings = SecuritySettings()
            settings.pairing.minimumKeySize = 7
            let rig = BondProofTests.rig([bond], settings)
            rig.submit(
                .channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: true, demanding: demand)))
            BondProofTests.peripheralLink(rig)
            #expect(ask(rig) == 8, "keys, and not in use")
            rig.receive([0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            BondProofTests.on(rig)
            #expect(ask(rig) == expected)
        }
    }

    @Test("what this side requires of every pairing, a listener that wants encryption requires too")
    func acceptorPolicy() {
        var settings = SecuritySettings()
        settings.pairing.requiresAuthentication = true
        let rig = BondProofTests.rig([BondProofTests.bond()], settings)
        rig.submit(.channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: true)))
        rig.submit(.channel(.listen(spsm: 0x81, ChannelSettings(), requiresEncryption: false)))
        BondProofTests.peripheralLink(rig)
        rig.receive([0x04, 0x3E, 0x0D, 0x05, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        BondProofTests.on(rig)
        #expect(ask(rig) == 5)
        #expect(ask(rig, spsm: 0x81) == 0)
    }

    @Test("a peripheral that has not proved its bond opens no channel to a client here, and one of ours waits for that")
    func unproven() throws {
        var settings = SecuritySettings()
        settings.encryptsAtConnection = false
        let rig = BondProofTests.connected([BondProofTests.bond()], settings)
        rig.submit(.channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: false)))
        let link = try #require(rig.links.last?.id)
        #expect(ask(rig) == 8)
        rig.advance(by: .seconds(6))
        rig.submit(.channel(.open(link, spsm: 0x80, ChannelSettings())))
        #expect(!BondProofTests.sent(rig, on: 5).contains { $0[0] == 0x14 })
        BondProofTests.on(rig)
        #expect(BondProofTests.sent(rig, on: 5).contains { $0[0] == 0x14 })
        #expect(ask(rig) == 0)
    }

    @Test("the debug public key is refused unless it is asked for (Core 5.4, Vol 3, Part H, 2.3.5.6.1)")
    func debugKey() {
        let x: [UInt8] = [
            0x20, 0xB0, 0x03, 0xD2, 0xF2, 0x97, 0xBE, 0x2C, 0x5E, 0x2C, 0x83, 0xA7, 0xE9, 0xF9, 0xA5, 0xB9,
            0xEF, 0xF4, 0x91, 0x11, 0xAC, 0xF4, 0xFD, 0xDB, 0xCC, 0x03, 0x01, 0x48, 0x0E, 0x35, 0x9D, 0xE6,
        ]
        let y: [UInt8] = [
            0xDC, 0x80, 0x9C, 0x49, 0x65, 0x2A, 0xEB, 0x6D, 0x63, 0x32, 0x9A, 0xBF, 0x5A, 0x52, 0x15, 0x5C,
            0x76, 0x63, 0x45, 0xC2, 0x8F, 0xED, 0x30, 0x24, 0x74, 0x1C, 0x8E, 0xD0, 0x15, 0x89, 0xD2, 0x8B,
        ]
        for isAccepted in [false, true] {
            var settings = TwoHosts.Settings()
            settings.peripheral.pairing.acceptsDebugKeys = isAccepted
            let hosts = TwoHosts(settings)
            hosts.cryptoProvider = DebugCryptoProvider(x: x, y: y)
            hosts.connect()
            let result = hosts.pair()
            if isAccepted {
                // It goes on until the shared secrets differ, since only the public half is used here.
                #expect(hosts.failures(.peripheral) != [.refusedByUs(.invalidParameters)])
            } else {
                #expect(hosts.failures(.peripheral) == [.refusedByUs(.invalidParameters)])
                #expect(result == .failure(.security(.refusedByPeer(.invalidParameters))))
            }
        }
    }

    /// Shows the debug key as the first one that it makes.
    private final class DebugCryptoProvider: CryptoProvider, @unchecked Sendable {
        private let cryptoProvider = SwiftCryptoProvider()
        private let key: P256PublicKey
        private var isFirst = true

        init(x: [UInt8], y: [UInt8]) { key = P256PublicKey(x: x, y: y)! }

        func answer(_ request: CryptoRequest) -> CryptoResult {
            let result = cryptoProvider.answer(request)
            guard isFirst, case .generateKeyPair = request, case .keyPair(let privateKey, _) = result else {
                return result
            }
            isFirst = false
            return .keyPair(privateKey: privateKey, publicKey: key)
        }
    }
}
