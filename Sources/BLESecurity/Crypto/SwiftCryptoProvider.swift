import BLEHost
import BLEPackets
import Crypto
import CryptoExtras

/// The engine's cryptography, with swift-crypto.
public struct SwiftCryptoProvider: CryptoProvider {
    /// The maximum of random octets in one request: more than any key or nonce needs.
    static let longestRandom = 4096

    /// Creates a crypto provider. It has no state.
    public init() {}

    /// Answers at once; callable from any thread. Fails for keys and blocks that do not have 16 octets, and for more
    /// than 4096 random octets.
    public func answer(_ request: CryptoRequest) -> CryptoResult {
        switch request {
        case .random(let count): random(count)
        case .encrypt(let key, let block): encrypt(key: key, block: block)
        case .authenticationCode(let key, let message): authenticationCode(key: key, message: message)
        case .generateKeyPair: generateKeyPair()
        case .sharedSecret(let privateKey, let peerPublicKey):
            sharedSecret(privateKey: privateKey, peerPublicKey: peerPublicKey)
        }
    }

    private func random(_ count: Int) -> CryptoResult {
        guard (0...Self.longestRandom).contains(count) else { return .failure(.unavailable) }
        // The system's generator is the kernel's (getrandom).
        var generator = SystemRandomNumberGenerator()
        return .octets((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private func encrypt(key: [UInt8], block: [UInt8]) -> CryptoResult {
        guard key.count == 16, block.count == 16 else { return .failure(.unavailable) }
        var block = block
        do {
            try AES.permute(&block, key: SymmetricKey(data: key))
        } catch {
            return .failure(.unavailable)
        }
        return .octets(block)
    }

    private func authenticationCode(key: [UInt8], message: [UInt8]) -> CryptoResult {
        guard key.count == 16 else { return .failure(.unavailable) }
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key))
            unsafe message.withUnsafeBytes { unsafe code.update(bufferPointer: $0) }
            return .octets(Array(code.finalize()))
        } catch {
            return .failure(.unavailable)
        }
    }

    private func generateKeyPair() -> CryptoResult {
        let key = P256.KeyAgreement.PrivateKey()
        let point = Array(key.publicKey.rawRepresentation)
        guard let publicKey = P256PublicKey(x: Array(point.prefix(32)), y: Array(point.dropFirst(32))) else {
            return .failure(.unavailable)
        }
        return .keyPair(privateKey: Array(key.rawRepresentation), publicKey: publicKey)
    }

    private func sharedSecret(privateKey: [UInt8], peerPublicKey: P256PublicKey) -> CryptoResult {
        let own: P256.KeyAgreement.PrivateKey
        do { own = try .init(rawRepresentation: privateKey) } catch { return .failure(.unavailable) }
        do {
            // Both steps reject a point that is not on the curve.
            let peer = try P256.KeyAgreement.PublicKey(rawRepresentation: peerPublicKey.x + peerPublicKey.y)
            let secret = try own.sharedSecretFromKeyAgreement(with: peer)
            return unsafe .octets(secret.withUnsafeBytes { unsafe Array($0) })
        } catch {
            return .failure(.invalidPublicKey)
        }
    }
}
