import BLEHost
import BLEPackets

/// The cryptography under a fuzzed engine: whatever is computed is one octet again and again. So a peer gives fitting
/// confirm and check values without computing any, and pairing gets to its end.
struct FuzzedCryptoProvider {
    var octet: UInt8 = 0x5A
    /// Whether questions wait until the input has them answered.
    var isHeld = false

    func answer(_ request: CryptoRequest) -> CryptoResult {
        switch request {
        case .random(let count): return .octets([UInt8](repeating: octet, count: count))
        case .encrypt, .authenticationCode: return .octets([UInt8](repeating: octet, count: 16))
        case .generateKeyPair:
            return .keyPair(
                privateKey: [UInt8](repeating: octet, count: 32),
                publicKey: P256PublicKey(
                    x: [UInt8](repeating: octet, count: 32), y: [UInt8](repeating: octet, count: 32)) ?? .zero)
        case .sharedSecret(_, let peer):
            // Not a point of the curve: its coordinates begin alike.
            if peer.x.first == 0xFF { return .failure(.invalidPublicKey) }
            return .octets([UInt8](repeating: octet, count: 32))
        }
    }
}
