/// The secret that two devices share after their public keys crossed: 32 octets, least significant first
/// (Core 5.4, Vol 4, Part E, 7.7.65.9).
public struct DHKey: Hashable, Sendable {
    /// 32 octets, as in a packet.
    public let octets: [UInt8]

    /// All octets zero.
    public static let zero = DHKey()

    private init() { octets = [UInt8](repeating: 0, count: 32) }

    /// - Parameter octets: 32 octets, as in a packet; `nil` for another count.
    public init?(octets: [UInt8]) {
        guard octets.count == 32 else { return nil }
        self.octets = octets
    }

    /// - Throws: `DecodingError.truncated` when fewer than 32 octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        octets = try reader.readBytes(32).copied()
    }

    public func encode(into packet: inout PacketWriter) { packet.write(bytes: octets) }
}

extension DHKey: CustomStringConvertible {
    /// Does not show the secret, so that a packet can be logged.
    public var description: String { "(256-bit key)" }
}

#if !hasFeature(Embedded)
extension DHKey: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
