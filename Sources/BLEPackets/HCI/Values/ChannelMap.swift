/// The data channels that may be used, 0 to 36, as the bits of a number of 40 (Core 5.4, Vol 4, Part E, 7.8.19).
public struct ChannelMap: RawRepresentable, Hashable, Sendable {
    /// Bits above the lowest 40 are not sent.
    public var rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// All 37 data channels.
    public static let all = ChannelMap(rawValue: 0x1F_FFFF_FFFF)

    /// - Throws: `DecodingError.truncated` when fewer than five octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        guard reader.remainingCount >= 5 else { throw .truncated(needed: 5, remaining: reader.remainingCount) }
        let low = try reader.read(UInt32.self)
        rawValue = UInt64(low) | UInt64(try reader.read(UInt8.self)) << 32
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(UInt32(truncatingIfNeeded: rawValue))
        packet.write(UInt8(truncatingIfNeeded: rawValue >> 32))
    }

    /// Whether a channel may be used; `false` outside 0 to 36.
    @inlinable
    public func contains(channel: Int) -> Bool {
        0...36 ~= channel && rawValue >> UInt64(channel) & 1 == 1
    }
}
