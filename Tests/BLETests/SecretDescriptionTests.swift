import BLE
import BLEPresentation
import Testing

/// What is printed, logged or shown in parts contains neither keys nor passkeys.
@Suite struct SecretDescriptionTests {
    private static let octets: [UInt8] = (0..<32).map { 0xA1 + $0 }
    private static let key = Key128(rawValue: 0x0123_4567_89AB_CDEF_1122_3344_5566_7788)
    private static let passkey: UInt32 = 314_159

    /// Everything a secret may look like in a text.
    private static let traces = [
        "314159", "314,159", "161, 162", "A1A2", "a1a2", "\(key.rawValue)", String(key.rawValue, radix: 16),
        "136, 119, 102", "18, 35, 69, 103", "0xa1",
    ]

    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    private static var options: PairingOptions { PairingOptions(passkey: passkey) }

    private static var security: SecuritySettings {
        var settings = SecuritySettings()
        settings.pairing = options
        settings.identityResolvingKey = key
        return settings
    }

    private static var configuration: AdapterConfiguration {
        var configuration = AdapterConfiguration(ownAddress: .public)
        configuration.security = security
        configuration.cryptoProvider = NoCryptoProvider()
        return configuration
    }

    private static var bond: Bond {
        Bond(
            identity: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random), identityResolvingKey: key,
            localKey: LongTermKey(key: key), peerKey: LongTermKey(key: key), localSigningKey: SigningKey(key: key))
    }

    private static var outOfBand: OutOfBandData {
        OutOfBandData(
            temporaryKey: key, peer: .init(random: key, confirm: key),
            local: LocalOutOfBandData(random: key, confirm: key, privateKey: octets, publicKey: .zero))
    }

    private struct NoCryptoProvider: CryptoProvider {
        func answer(_ request: CryptoRequest) -> CryptoResult { .failure(.unavailable) }
    }

    static let values: [any Sendable] = [
        options, security, configuration, HostConfiguration(ownership: .exclusive, security: security), bond,
        StoredBonds(bonds: [bond], identityResolvingKey: key), key, DHKey(octets: octets)!, outOfBand,
        LocalIdentity(address: bond.identity, resolvingKey: key),
        PairingEvent.displayPasskey(passkey), HostEvent.pairing(link, .displayPasskey(passkey)),
        PairingAnswer.passkey(passkey),
        SecurityCommand.answerPairing(PairingQuestionID(rawValue: 1), .passkey(passkey)),
        SecurityCommand.pair(link, options), SecurityCommand.setSecurity(security),
        SecurityCommand.restoreBonds([bond]), SecurityCommand.setOutOfBandData(bond.identity, outOfBand),
        HostCommand.security(.pair(link, options)), HostCommand.security(.setSecurity(security)),
        CryptoRequest.encrypt(key: octets, block: octets), CryptoResult.octets(octets),
        CryptoRequest.authenticationCode(key: octets, message: octets),
        CryptoRequest.sharedSecret(privateKey: octets, peerPublicKey: .zero),
        CryptoResult.keyPair(privateKey: octets, publicKey: .zero),
        SMPPacket.encryptionInformation(key), SMPPacket.identityInformation(key), SMPPacket.signingInformation(key),
        LEEnableEncryption(
            connectionHandle: ConnectionHandle(rawValue: 1), randomNumber: 0, encryptedDiversifier: 0, longTermKey: key),
    ]

    @Test("no description and no dump shows a key or a passkey", arguments: values.indices)
    func staysSecret(index: Int) {
        let value = Self.values[index]
        // Alone, and inside what others made of it.
        for nested in [value, [value], ["value": value], Optional(value) as Any, (1, value)] as [Any] {
            var parts = ""
            dump(nested, to: &parts)
            for text in ["\(nested)", String(reflecting: nested), parts] {
                for trace in Self.traces { #expect(!text.contains(trace), "\(type(of: value)): \(trace)") }
            }
        }
    }

    @Test("the configuration of an adapter is described for people")
    func describesConfiguration() {
        #expect(
            "\(Self.configuration)"
                == "adapter configuration “Jelling”: the public address, bonds until closed, pairing asks nobody")
        #expect("\(AdapterConfiguration(ownAddress: .public))".hasSuffix("no pairing"))
        #expect("\(Self.options)".contains("hasPasskey: true"))
    }
}
