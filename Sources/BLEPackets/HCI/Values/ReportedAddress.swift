/// An address in a report, which can have two more kinds than a device address (Core 5.4, Vol 4, Part E, 7.7.65.13).
///
/// Undefined kinds are preserved, because some controllers do not clear unused fields.
public struct ReportedAddress: Hashable, Sendable {
    /// The octet before the address.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt8
        @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A public address, as it was sent.
        public static let `public` = Kind(rawValue: 0x00)
        /// A random address, as it was sent.
        public static let random = Kind(rawValue: 0x01)
        /// A public identity that the controller resolved from a private address.
        public static let publicIdentity = Kind(rawValue: 0x02)
        /// A random static identity that the controller resolved from a private address.
        public static let randomIdentity = Kind(rawValue: 0x03)
        /// A resolvable private target address that the controller could not resolve.
        public static let unresolved = Kind(rawValue: 0xFE)
        /// The advertiser is anonymous.
        public static let anonymous = Kind(rawValue: 0xFF)
    }

    /// The kind of address; with `.anonymous` the value has no meaning.
    public var kind: Kind
    /// The 48 bits, most significant byte first as printed.
    public var value: UInt64

    /// The address of a report without one: all zeros.
    public static let zero = ReportedAddress(kind: .public, value: 0)
    /// The address of an anonymous advertiser.
    public static let anonymous = ReportedAddress(kind: .anonymous, value: 0)

    @inlinable
    public init(kind: Kind, value: UInt64) {
        self.kind = kind
        self.value = value & 0xFFFF_FFFF_FFFF
    }

    /// The same address as a report names it.
    @inlinable
    public init(_ address: DeviceAddress) {
        self.init(kind: Kind(rawValue: address.kind.rawValue), value: address.value)
    }

    /// - Throws: `DecodingError.truncated` when fewer than seven octets remain.
    @inlinable
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        self.init(octets: try reader.readBytes(7), at: 0)
    }

    /// The octet of the kind and the six of the address, from `offset` on.
    @inlinable
    init(octets: RawSpan, at offset: Int) {
        kind = Kind(rawValue: octets.integer(at: offset))
        let low: UInt32 = octets.integer(at: offset + 1)
        let high: UInt16 = octets.integer(at: offset + 5)
        value = UInt64(low) | UInt64(high) << 32
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(kind.rawValue)
        packet.write(UInt32(truncatingIfNeeded: value))
        packet.write(UInt16(truncatingIfNeeded: value >> 32))
    }

    /// `nil` for an anonymous advertiser and for kinds without meaning; an unresolved address is a random one.
    @inlinable public var deviceAddress: DeviceAddress? {
        if kind == .unresolved { return DeviceAddress(value: value, kind: .random) }
        guard let kind = DeviceAddress.Kind(rawValue: kind.rawValue) else { return nil }
        return DeviceAddress(value: value, kind: kind)
    }
}
