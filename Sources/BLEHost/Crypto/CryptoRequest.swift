import BLEPackets

/// A cryptographic computation that the engine asks for. The answer comes as an input, so that the engine links no
/// cryptographic library and a recording can repeat the run.
///
/// The most significant octet comes first everywhere, as the specification prints values (Core 5.4, Vol 3, Part H,
/// 2.2); on the air most of them have the opposite order.
public enum CryptoRequest: Equatable, Sendable {
    /// Random octets from a cryptographically secure generator; they may become keys.
    case random(count: Int)
    /// The security function `e`: one block of AES-128 (Core 5.4, Vol 3, Part H, 2.2.1). Key and block have 16 octets
    /// each.
    case encrypt(key: [UInt8], block: [UInt8])
    /// AES-CMAC with a key of 16 octets (Core 5.4, Vol 3, Part H, 2.2.5).
    case authenticationCode(key: [UInt8], message: [UInt8])
    /// A new key pair on the curve P-256 (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
    case generateKeyPair
    /// The Diffie-Hellman key of our private key (32 octets) and a peer's public key, which is unchecked: the crypto
    /// provider must refuse a point that is not on the curve with `CryptoFailure.invalidPublicKey`.
    case sharedSecret(privateKey: [UInt8], peerPublicKey: P256PublicKey)
}

/// The result of a `CryptoRequest`.
public enum CryptoResult: Equatable, Sendable {
    /// Result of `random`, `encrypt` and `authenticationCode`; for `sharedSecret` the 32 octets of the x-coordinate.
    case octets([UInt8])
    /// Result of `generateKeyPair`; the private key has 32 octets.
    case keyPair(privateKey: [UInt8], publicKey: P256PublicKey)
    /// The request failed.
    case failure(CryptoFailure)
}

/// Why a request has no result.
public enum CryptoFailure: Error, Hashable, Sendable {
    /// The peer's public key is not a point on the curve.
    case invalidPublicKey
    /// The request has octets of a wrong length, the crypto provider does not support it, or it did not answer within
    /// 20 s.
    case unavailable
}

/// A request with the number that its answer must carry.
public struct PendingCryptoRequest: Equatable, Sendable {
    /// The number that the answer must carry.
    public var id: UInt64
    /// What to compute.
    public var request: CryptoRequest
}

/// Does the engine's cryptography. `BLESecurity` has an implementation; a program without one has no pairing, no
/// private addresses and no database hash.
public protocol CryptoProvider: Sendable {
    /// Returns the result without waiting; called where the engine runs.
    func answer(_ request: CryptoRequest) -> CryptoResult
}
