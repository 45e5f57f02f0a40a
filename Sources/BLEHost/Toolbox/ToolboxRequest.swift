import BLEPackets

/// A cryptographic operation that the engine needs: the engine asks, and the answer comes as an input. So the engine
/// links no cryptographic library, and a recording can repeat the run.
///
/// All octets are most significant first, as the specification prints them (Core 5.4, Vol 3, Part H, 2.2); on the air
/// most of them are sent in reverse order.
public enum ToolboxRequest: Equatable, Sendable {
    /// Random octets, good enough for keys.
    case random(count: Int)
    /// The security function `e`: one block of AES-128 (Core 5.4, Vol 3, Part H, 2.2.1). Key and block have 16 octets
    /// each.
    case encrypt(key: [UInt8], block: [UInt8])
    /// AES-CMAC with a key of 16 octets (Core 5.4, Vol 3, Part H, 2.2.5).
    case authenticationCode(key: [UInt8], message: [UInt8])
    /// A new key pair on the curve P-256 (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
    case generateKeyPair
    /// The Diffie-Hellman key of our private key (32 octets) and a peer's public key. The public key is not checked
    /// yet: one that is not a point on the curve is refused with `ToolboxFailure.invalidPublicKey`.
    case sharedSecret(privateKey: [UInt8], peerPublicKey: P256PublicKey)
}

/// The result of a `ToolboxRequest`.
public enum ToolboxResult: Equatable, Sendable {
    /// Result of `random`, `encrypt` and `authenticationCode`; for `sharedSecret` the 32 octets of the x-coordinate.
    case octets([UInt8])
    /// Result of `generateKeyPair`; the private key has 32 octets.
    case keyPair(privateKey: [UInt8], publicKey: P256PublicKey)
    /// The request failed.
    case failure(ToolboxFailure)
}

/// Why a request has no result.
public enum ToolboxFailure: Error, Hashable, Sendable {
    /// The peer's public key is not a point on the curve.
    case invalidPublicKey
    /// The request has octets of a wrong length, or the toolbox does not support it.
    case unavailable
}

/// A request with the number that its answer must have.
public struct ToolboxQuestion: Equatable, Sendable {
    /// The number that the answer must have.
    public var id: UInt64
    /// What to compute.
    public var request: ToolboxRequest
}

/// Provides the engine's cryptography. `BLESecurity` has an implementation; a program without one has no pairing,
/// private addresses or database hash.
public protocol SecurityToolbox: Sendable {
    /// Answers at once; called in the context in which the engine runs.
    func answer(_ request: ToolboxRequest) -> ToolboxResult
}

#if !hasFeature(Embedded)
extension P256PublicKey: Codable {
    private enum CodingKeys: String, CodingKey { case x, y }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let y = try container.decode([UInt8].self, forKey: .y)
        guard let key = P256PublicKey(x: try container.decode([UInt8].self, forKey: .x), y: y) else {
            throw Swift.DecodingError.dataCorruptedError(
                forKey: .x, in: container, debugDescription: "a coordinate does not have 32 octets")
        }
        self = key
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(x, forKey: .x)
        try container.encode(y, forKey: .y)
    }
}
extension ToolboxFailure: Codable {}
extension ToolboxResult: Codable {}
#endif
