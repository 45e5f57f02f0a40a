import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Bonds that were made when less was asked for.
@Suite("Strength of keys") struct KeyStrengthTests {
    private static func bonds(size: UInt8 = 16, isSecure: Bool = true) -> [TwoHosts.Side: [Bond]] {
        var settings = TwoHosts.Settings()
        settings.peripheral.pairing.maximumKeySize = size
        settings.peripheral.pairing.allowsSecureConnections = isSecure
        settings.central.pairing.minimumKeySize = 7
        settings.peripheral.pairing.minimumKeySize = 7
        let two = TwoHosts(settings)
        two.connect()
        _ = two.pair()
        two.run(for: .seconds(2))
        return [.central: two.bonds(.central), .peripheral: two.bonds(.peripheral)]
    }

    @Test("By default a key shorter than 16 octets is refused, in either role")
    func defaults() {
        var settings = TwoHosts.Settings()
        settings.peripheral.pairing.maximumKeySize = 15
        settings.peripheral.pairing.minimumKeySize = 7
        var two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByUs(.encryptionKeySize))))
        settings = TwoHosts.Settings()
        settings.central.pairing.maximumKeySize = 15
        settings.central.pairing.minimumKeySize = 7
        two = TwoHosts(settings)
        two.connect()
        #expect(two.pair() == .failure(.security(.refusedByPeer(.encryptionKeySize))))
    }

    /// What the peripheral demands, and with which error it refuses a link with the old bond.
    private static let demands: [(bonds: [TwoHosts.Side: [Bond]], demand: PairingOptions, error: ATTError)] = [
        (bonds(size: 7), PairingOptions(), .insufficientEncryptionKeySize),
        (bonds(), PairingOptions(requiresAuthentication: true), .insufficientAuthentication),
        (
            bonds(isSecure: false), PairingOptions(requiresSecureConnections: true), .insufficientAuthentication
        ),
    ]

    @Test("A bond weaker than required opens no value, subscription or channel", arguments: 0..<3)
    func server(index: Int) {
        let (bonds, demand, error) = Self.demands[index]
        var settings = TwoHosts.Settings()
        settings.central.pairing.minimumKeySize = 7
        settings.central.pairsOnDemand = false
        settings.peripheral.pairing = demand
        let two = TwoHosts(settings, bonds: bonds)
        two.connect()
        two.run(for: .seconds(2))
        #expect(two.security(.central)?.isEncrypted == true && two.security(.central)?.isBonded == true)
        #expect(two.read(2) == .failure(.gatt(.att(error, handle: two.handle(2)))))
        // What needs no security stays open.
        #expect(two.read(1) == .success(.gatt(.value([0x01]))))
        // Once less is demanded the bond serves again.
        var lax = settings.peripheral
        lax.pairing = PairingOptions(minimumKeySize: 7)
        two.submit(.security(.setSecurity(lax)), by: .peripheral)
        #expect(two.read(2) == .success(.gatt(.value([0x02]))))
    }

    @Test("A listener refuses a channel over a bond weaker than required, and opens it once less is required")
    func acceptedChannels() throws {
        let expected: [L2CAPCreditBasedConnectionResult] = [
            .insufficientEncryptionKeySize, .insufficientAuthentication, .insufficientAuthentication,
        ]
        for ((bonds, demand, _), expected) in zip(Self.demands, expected) {
            var settings = TwoHosts.Settings()
            settings.central.pairing.minimumKeySize = 7
            settings.central.pairsOnDemand = false
            settings.peripheral.pairing = demand
            let two = TwoHosts(settings, bonds: bonds)
            two.connect()
            two.run(for: .seconds(2))
            _ = two.result(
                of: .channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: true)), by: .peripheral)
            let link = try #require(two.link(.central))
            let open = HostCommand.channel(.open(link, spsm: 0x80, ChannelSettings()))
            #expect(two.result(of: open, by: .central) == .failure(.channel(.refused(expected))))
            var lax = settings.peripheral
            lax.pairing = PairingOptions(minimumKeySize: 7)
            two.submit(.security(.setSecurity(lax)), by: .peripheral)
            guard case .success(.channel)? = two.result(of: open, by: .central) else {
                Issue.record("no channel")
                continue
            }
        }
    }

    @Test("A central opens no channel over a bond weaker than it requires", arguments: 0..<3)
    func openedChannels(index: Int) throws {
        let (bonds, demand, _) = Self.demands[index]
        var settings = TwoHosts.Settings()
        settings.central.pairing = demand
        settings.peripheral.pairing.minimumKeySize = 7
        let two = TwoHosts(settings, bonds: bonds)
        two.connect()
        two.run(for: .seconds(2))
        _ = two.result(
            of: .channel(.listen(spsm: 0x80, ChannelSettings(), requiresEncryption: false)), by: .peripheral)
        let link = try #require(two.link(.central))
        #expect(
            two.result(of: .channel(.open(link, spsm: 0x80, ChannelSettings())), by: .central)
                == .failure(.security(.keyTooWeak)))
    }

    @Test("`encrypt` does not accept a bond weaker than required", arguments: 0..<3)
    func encrypt(index: Int) throws {
        let (bonds, demand, _) = Self.demands[index]
        var settings = TwoHosts.Settings()
        settings.central.pairing = demand
        settings.central.encryptsAtConnection = false
        settings.peripheral.pairing.minimumKeySize = 7
        let two = TwoHosts(settings, bonds: bonds)
        two.connect()
        let link = try #require(two.link(.central))
        for _ in 1...2 {
            #expect(two.result(of: .security(.encrypt(link)), by: .central) == .failure(.security(.keyTooWeak)))
        }
    }

    @Test("Secure Connections Only is authenticated, of 16 octets, and nothing else")
    func secureConnectionsOnly() {
        var options = PairingOptions(ioCapability: .keyboardOnly, minimumKeySize: 7)
        options.requireSecureConnectionsOnly()
        typealias Key = KeyProperties
        #expect(Key(isAuthenticated: true, isSecureConnections: true, size: 16).satisfies(options))
        #expect(!Key(isAuthenticated: false, isSecureConnections: true, size: 16).satisfies(options))
        #expect(!Key(isAuthenticated: true, isSecureConnections: false, size: 16).satisfies(options))
        #expect(!Key(isAuthenticated: true, isSecureConnections: true, size: 15).satisfies(options))
    }
}
