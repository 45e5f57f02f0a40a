/// Which of its addresses the controller shows (Core 5.4, Vol 4, Part E, 7.8.5).
public enum OwnAddressType: UInt8, Hashable, Sendable {
    /// The controller's public address.
    case `public` = 0x00
    /// The random address that the host set before.
    case random = 0x01
    /// A resolvable private address that the controller makes, else the public one.
    case resolvableOrPublic = 0x02
    /// A resolvable private address that the controller makes, else the random one that was set.
    case resolvableOrRandom = 0x03

    /// - Throws: `DecodingError.invalidValue` for any other octet.
    @inlinable
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        let octet = try reader.read(UInt8.self)
        guard let value = Self(rawValue: octet) else { throw .invalidValue(UInt64(octet), field: .addressType) }
        self = value
    }
}
