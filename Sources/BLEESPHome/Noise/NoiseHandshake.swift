import Crypto

/// The responder's side of `Noise_NNpsk0_25519_ChaChaPoly_SHA256` (The Noise Protocol Framework, 5 and 9): one message
/// from the client, one to it, then a cipher for each direction.
struct NoiseHandshake {
    /// The length of a public key.
    private static let keyCount = 32

    private var chainingKey: [UInt8]
    private var hash: [UInt8]
    private var cipher: NoiseCipher?
    private let key: NoiseKey
    private let ephemeral: [UInt8]
    private var peer: [UInt8] = []

    /// - Parameter ephemeral: 32 octets of randomness, which are used for nothing else.
    init(key: NoiseKey, prologue: [UInt8], ephemeral: [UInt8]) {
        self.key = key
        self.ephemeral = ephemeral
        hash = Array(SHA256.hash(data: Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8)))
        chainingKey = hash
        mixHash(prologue)
    }

    /// Reads the client's message: `psk, e`.
    /// - Returns: its content, which is empty with the clients that there are.
    mutating func read(_ message: some Collection<UInt8>) throws(NoiseFailure) -> [UInt8] {
        guard message.count >= Self.keyCount else { throw .malformed }
        mixKeyAndHash(key.octets)
        peer = Array(message.prefix(Self.keyCount))
        mixHash(peer)
        mixKey(peer)
        return try openAndHash(Array(message.dropFirst(Self.keyCount)))
    }

    /// Writes the message to the client: `e, ee`.
    mutating func write(_ content: [UInt8] = []) throws(NoiseFailure) -> [UInt8] {
        let (own, shared) = try agreement()
        mixHash(own)
        mixKey(own)
        mixKey(shared)
        return own + (try sealAndHash(content))
    }

    /// The ciphers of both directions.
    func split() -> (receiving: NoiseCipher, sending: NoiseCipher) {
        let keys = Self.derive(chainingKey, [], count: 2)
        return (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
    }

    private func agreement() throws(NoiseFailure) -> (own: [UInt8], shared: [UInt8]) {
        let (own, shared): ([UInt8], [UInt8])
        do {
            let pair = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: ephemeral)
            let other = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: peer)
            let secret = try pair.sharedSecretFromKeyAgreement(with: other)
            own = Array(pair.publicKey.rawRepresentation)
            shared = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        } catch {
            throw .wrongPublicKey
        }
        // A point of small order: whatever the own key is, all know the result.
        guard shared.contains(where: { $0 != 0 }) else { throw .wrongPublicKey }
        return (own, shared)
    }

    // MARK: The symmetric state

    private mutating func mixHash(_ data: [UInt8]) { hash = Array(SHA256.hash(data: hash + data)) }

    private mutating func mixKey(_ material: [UInt8]) {
        let keys = Self.derive(chainingKey, material, count: 2)
        chainingKey = keys[0]
        cipher = NoiseCipher(key: keys[1])
    }

    private mutating func mixKeyAndHash(_ material: [UInt8]) {
        let keys = Self.derive(chainingKey, material, count: 3)
        chainingKey = keys[0]
        mixHash(keys[1])
        cipher = NoiseCipher(key: keys[2])
    }

    private mutating func openAndHash(_ sealed: [UInt8]) throws(NoiseFailure) -> [UInt8] {
        guard var opening = cipher else { throw .malformed }
        let content = try opening.open(sealed, authenticating: hash)
        cipher = opening
        mixHash(sealed)
        return content
    }

    private mutating func sealAndHash(_ content: [UInt8]) throws(NoiseFailure) -> [UInt8] {
        guard var sealing = cipher else { throw .malformed }
        let sealed = try sealing.seal(content, authenticating: hash)
        cipher = sealing
        mixHash(sealed)
        return sealed
    }

    /// HKDF (4.3).
    private static func derive(_ chainingKey: [UInt8], _ material: [UInt8], count: UInt8) -> [[UInt8]] {
        func authenticate(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
        }
        let base = authenticate(chainingKey, material)
        var outputs: [[UInt8]] = []
        for number in 1...count { outputs.append(authenticate(base, (outputs.last ?? []) + [number])) }
        return outputs
    }
}
