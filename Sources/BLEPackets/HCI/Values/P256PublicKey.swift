/// A public key on the curve P-256 (Core 5.4, Vol 4, Part E, 7.8.37; Vol 3, Part H, 3.5.6). A peer's key may not be a
/// point on the curve.
public struct P256PublicKey: Hashable, Sendable {
    /// 64 octets, as in a packet: X, then Y, each least significant octet first.
    public let octets: [UInt8]

    /// All octets zero.
    public static let zero = P256PublicKey()

    private init() { octets = [UInt8](repeating: 0, count: 64) }

    /// - Parameter octets: 64 octets, as in a packet; `nil` for another count.
    public init?(octets: [UInt8]) {
        guard octets.count == 64 else { return nil }
        self.octets = octets
    }

    /// - Parameters:
    ///   - x: 32 octets, most significant first, as cryptography has them; `nil` for another count.
    ///   - y: likewise.
    public init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        octets = x.reversed() + y.reversed()
    }

    /// - Throws: `DecodingError.truncated` when fewer than 64 octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        octets = try reader.readBytes(64).copied()
    }

    /// 32 octets, most significant first.
    public var x: [UInt8] { octets.prefix(32).reversed() }

    /// 32 octets, most significant first.
    public var y: [UInt8] { octets.suffix(32).reversed() }

    public func encode(into packet: inout PacketWriter) { packet.write(bytes: octets) }
}
