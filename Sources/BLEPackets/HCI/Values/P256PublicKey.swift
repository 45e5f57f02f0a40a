/// A public key on the curve P-256: X, then Y, each of 32 octets, least significant first
/// (Core 5.4, Vol 4, Part E, 7.8.37).
public struct P256PublicKey: Hashable, Sendable {
    /// 64 octets, as they stand in a packet.
    public let octets: [UInt8]

    /// All octets zero.
    public static let zero = P256PublicKey()

    private init() { octets = [UInt8](repeating: 0, count: 64) }

    /// - Parameter octets: 64 octets as they stand in a packet; `nil` for another count.
    public init?(octets: [UInt8]) {
        guard octets.count == 64 else { return nil }
        self.octets = octets
    }

    /// - Throws: `DecodingError.truncated` when fewer than 64 octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        octets = try reader.readBytes(64).copied()
    }

    public func encode(into packet: inout PacketWriter) { packet.write(bytes: octets) }
}
