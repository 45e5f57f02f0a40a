/// A view of an H4 packet: its type and its contents (Core 5.4, Vol 4, Part A, 2).
public struct H4PacketView: ~Escapable {
    /// The packet type, which is the first octet.
    public let type: H4PacketType
    /// The packet after its type, as `HCICommandPacketView`, `ACLDataPacket`, `SynchronousDataPacket`,
    /// `HCIEventPacketView` and `IsochronousDataPacket` read it.
    public let contents: RawSpan

    /// - Throws: `DecodingError.truncated` when there is no octet, `DecodingError.invalidValue` when the first names no
    ///   packet type.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        let octet = try reader.read(UInt8.self)
        guard let type = H4PacketType(rawValue: octet) else { throw .invalidValue(UInt64(octet), field: .packetType) }
        self.type = type
        contents = reader.readRest()
    }
}
