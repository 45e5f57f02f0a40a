/// The data of one kind of signalling packet (Core 5.4, Vol 3, Part A, 4).
///
/// `encode` and `init(decoding:)` handle only the data; `L2CAPSignallingPacket` handles the header.
public protocol L2CAPSignallingCommand: Equatable, Sendable {
    /// The code in the header.
    static var code: L2CAPSignallingCode { get }
    /// - Throws: `DecodingError` when the data is too short or a field has no meaning.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the data, without the header.
    func encode(into packet: inout PacketWriter)
}

extension L2CAPSignallingCommand {
    /// Writes header and data, without the basic frame around them.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodePacket(identifier: UInt8, into packet: inout PacketWriter) {
        let start = packet.count
        L2CAPSignallingPacket.Header(code: Self.code, identifier: identifier, dataLength: 0).encode(into: &packet)
        encode(into: &packet)
        let length = packet.count - start - L2CAPSignallingPacket.Header.byteCount
        packet.overwrite(UInt16(truncatingIfNeeded: length), at: start + 2)
    }

    /// Writes the basic frame of the LE signalling channel with header and data in it.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodeFrame(identifier: UInt8, into packet: inout PacketWriter) {
        L2CAPBasicFrame.encode(on: .leSignalling, into: &packet) { encodePacket(identifier: identifier, into: &$0) }
    }

    /// Decodes the data of a packet, which must have no further octets.
    init(decodingWhole data: RawSpan) throws(DecodingError) {
        var reader = PacketReader(data)
        self = try Self(decoding: &reader)
        try reader.expectEnd()
    }
}
