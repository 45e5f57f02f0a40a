import BLEHost
import BLESecurity

/// What pairing computes.
enum SecurityMeasurements {
    static let all: [Measurement] = [
        Measurement("P-256: a key pair and a shared secret") { count in
            let cryptoProvider = SwiftCryptoProvider()
            guard case .keyPair(_, let peer) = cryptoProvider.answer(.generateKeyPair) else { return 0 }
            var checksum: UInt64 = 0
            for _ in 0..<count {
                guard case .keyPair(let own, _) = cryptoProvider.answer(.generateKeyPair),
                    case .octets(let secret) = cryptoProvider.answer(
                        .sharedSecret(privateKey: own, peerPublicKey: peer))
                else { return 0 }
                checksum &+= UInt64(secret[0])
            }
            return checksum
        },
        Measurement("resolving a private address with one key") { count in
            let cryptoProvider = SwiftCryptoProvider()
            let key = [UInt8](repeating: 7, count: 16)
            var checksum: UInt64 = 0
            for number in 0..<count {
                let block = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)
                guard case .octets(let octets) = cryptoProvider.answer(.encrypt(key: key, block: block)) else {
                    return 0
                }
                checksum &+= UInt64(octets[15])
            }
            return checksum
        },
    ]
}
