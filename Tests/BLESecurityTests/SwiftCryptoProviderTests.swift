import BLEHost
import BLEPackets
import BLESecurity
import Testing

@Suite("The crypto provider of swift-crypto")
struct SwiftCryptoProviderTests {
    let cryptoProvider = SwiftCryptoProvider()

    @Test("e is one block of AES-128 (FIPS 197, C.1)")
    func encrypt() {
        let answer = cryptoProvider.answer(
            .encrypt(
                key: octets("000102030405060708090a0b0c0d0e0f"), block: octets("00112233445566778899aabbccddeeff")))
        #expect(answer == .octets(octets("69c4e0d86a7b0430d8cdb78070b4c55a")))
    }

    @Test(
        "AES-CMAC of no octets, of one block and of broken blocks (RFC 4493, 4)",
        arguments: [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ])
    func authenticationCode(length: Int, expected: String) {
        let message = octets(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
        let answer = cryptoProvider.answer(
            .authenticationCode(key: octets("2b7e151628aed2a6abf7158809cf4f3c"), message: Array(message[..<length])))
        #expect(answer == .octets(octets(expected)))
    }

    @Test("the Diffie-Hellman key is the specification's, from both sides (Core 5.4, Vol 2, Part G, 7.1.2)")
    func sharedSecret() {
        let secret = octets("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
        #expect(
            cryptoProvider.answer(.sharedSecret(privateKey: Sample.privateA, peerPublicKey: Sample.publicB))
                == .octets(secret)
        )
        #expect(
            cryptoProvider.answer(.sharedSecret(privateKey: Sample.privateB, peerPublicKey: Sample.publicA))
                == .octets(secret)
        )
    }

    @Test("a public key that is not on the curve is refused")
    func invalidCurve() {
        let zero = [UInt8](repeating: 0, count: 32)
        // The prime of the field: a coordinate must be less.
        let prime = octets("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let all = [UInt8](repeating: 0xFF, count: 32)
        var flipped = Sample.publicB.y
        flipped[31] ^= 1
        let points = [
            P256PublicKey(x: Sample.publicA.x, y: [UInt8](repeating: 0x42, count: 32)),
            P256PublicKey(x: Sample.publicB.x, y: zero),
            P256PublicKey(x: zero, y: zero), P256PublicKey(x: all, y: all),
            P256PublicKey(x: prime, y: Sample.publicA.y), P256PublicKey(x: Sample.publicB.x, y: flipped),
            P256PublicKey(x: Sample.publicA.x, y: Sample.publicB.y),
        ]
        for case let point? in points {
            #expect(
                cryptoProvider.answer(.sharedSecret(privateKey: Sample.privateA, peerPublicKey: point))
                    == .failure(.invalidPublicKey))
        }
    }

    @Test("two new key pairs differ, and agree on a key")
    func keyPairs() {
        guard case .keyPair(let privateA, let publicA) = cryptoProvider.answer(.generateKeyPair),
            case .keyPair(let privateB, let publicB) = cryptoProvider.answer(.generateKeyPair)
        else {
            Issue.record("no key pair")
            return
        }
        #expect(privateA != privateB)
        #expect(privateA.count == 32)
        let here = cryptoProvider.answer(.sharedSecret(privateKey: privateA, peerPublicKey: publicB))
        let there = cryptoProvider.answer(.sharedSecret(privateKey: privateB, peerPublicKey: publicA))
        #expect(here == there)
    }

    @Test("random octets are as many as asked for, and differ")
    func random() {
        guard case .octets(let first) = cryptoProvider.answer(.random(count: 16)),
            case .octets(let second) = cryptoProvider.answer(.random(count: 16))
        else {
            Issue.record("no octets")
            return
        }
        #expect(first.count == 16 && second.count == 16)
        #expect(first != second)
        #expect(cryptoProvider.answer(.random(count: 0)) == .octets([]))
    }

    @Test("requests of a wrong length are refused, and never trap")
    func wrongLengths() {
        let requests: [CryptoRequest] = [
            .random(count: -1), .random(count: .max), .encrypt(key: [], block: []),
            .encrypt(key: Array(repeating: 0, count: 32), block: Array(repeating: 0, count: 16)),
            .encrypt(key: Array(repeating: 0, count: 16), block: Array(repeating: 0, count: 17)),
            .authenticationCode(key: [1], message: []),
            .sharedSecret(privateKey: [], peerPublicKey: Sample.publicA),
            .sharedSecret(privateKey: Array(repeating: 0, count: 32), peerPublicKey: Sample.publicA),
            .sharedSecret(privateKey: Array(repeating: 0xFF, count: 32), peerPublicKey: Sample.publicA),
        ]
        for request in requests { #expect(cryptoProvider.answer(request) == .failure(.unavailable)) }
    }
}

/// Key pairs that the specification prints (Core 5.4, Vol 2, Part G, 7.1.2).
enum Sample {
    static let privateA = octets("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd")
    static let privateB = octets("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    static let publicA = P256PublicKey(
        x: octets("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"),
        y: octets("dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b"))!
    static let publicB = P256PublicKey(
        x: octets("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190"),
        y: octets("4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"))!
}

/// The octets that a text of hexadecimal digits means.
func octets(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
