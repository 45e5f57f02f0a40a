import Crypto

/// One direction of an encrypted connection: ChaCha20-Poly1305 with a counter (The Noise Protocol Framework, 5.1).
struct NoiseCipher: Sendable {
    /// The octets that each message is longer encrypted.
    static let tagCount = 16

    private let key: [UInt8]
    private var counter: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    private func nonce() throws -> ChaChaPoly.Nonce {
        try ChaChaPoly.Nonce(
            data: [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt64($0))) })
    }

    mutating func seal(_ message: [UInt8], authenticating context: [UInt8] = []) throws(NoiseFailure) -> [UInt8] {
        // No connection lives that long; a nonce is never used twice.
        guard counter < .max else { throw .exhausted }
        do {
            let box = try ChaChaPoly.seal(
                message, using: SymmetricKey(data: key), nonce: nonce(), authenticating: context)
            counter += 1
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw .exhausted
        }
    }

    mutating func open(
        _ message: some Collection<UInt8>, authenticating context: [UInt8] = []
    ) throws(NoiseFailure) -> [UInt8] {
        guard message.count >= Self.tagCount, counter < .max else { throw .wrongKey }
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: nonce(), ciphertext: Array(message.dropLast(Self.tagCount)),
                tag: Array(message.suffix(Self.tagCount)))
            let opened = try ChaChaPoly.open(box, using: SymmetricKey(data: key), authenticating: context)
            counter += 1
            return Array(opened)
        } catch {
            throw .wrongKey
        }
    }
}

/// Why an encrypted connection ends.
enum NoiseFailure: Error, Equatable {
    /// The octets were not encrypted with the key, or were changed.
    case wrongKey
    /// The peer's public key is none.
    case wrongPublicKey
    /// A message of the handshake has the wrong length.
    case malformed
    /// The counter of messages is at its end.
    case exhausted
}
