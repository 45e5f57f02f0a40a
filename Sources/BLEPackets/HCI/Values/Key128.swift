/// A key of 128 bits: a long term key, an identity resolving key, the key of LE Encrypt.
///
/// Its description does not show the octets, so that a packet can be logged.
public struct Key128: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt128
    @inlinable public init(rawValue: UInt128) { self.rawValue = rawValue }

    /// All bits zero: no secret at all, for fields without a key.
    public static let zero = Key128(rawValue: 0)

    /// - Parameter octets: 16 octets, least significant first, as in a packet; `nil` for another count.
    public init?(leastSignificantFirst octets: [UInt8]) {
        guard octets.count == 16 else { return nil }
        var value: UInt128 = 0
        for octet in octets.reversed() { value = value << 8 | UInt128(octet) }
        rawValue = value
    }

    /// - Parameter octets: 16 octets as a number is printed, most significant first; `nil` for another count.
    public init?(mostSignificantFirst octets: [UInt8]) {
        self.init(leastSignificantFirst: octets.reversed())
    }

    /// The 16 octets, least significant first, as in a packet.
    public var octets: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: rawValue >> (8 * UInt128($0))) } }
}

extension Key128: CustomStringConvertible {
    public var description: String { "(128-bit key)" }
}

#if !hasFeature(Embedded)
extension Key128: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
