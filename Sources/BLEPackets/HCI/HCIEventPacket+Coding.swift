extension HCIEventPacket {
    /// Decodes a packet; octets after the last known parameter of an event are ignored.
    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.lengthMismatch` when the length of the parameters differs from the header, and what the
    ///   decoders of the known events throw.
    public init(decoding packet: RawSpan) throws(DecodingError) {
        let view = try HCIEventPacketView(decoding: packet)
        var reader = PacketReader(view.parameters)
        try self.init(code: view.code, decoding: &reader)
    }

    /// Writes a whole H4 event packet: type, code, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.event.rawValue)
        encode(into: &packet)
    }

    /// Writes code, length and parameters.
    public func encode(into packet: inout PacketWriter) {
        packet.write(code.rawValue)
        let lengthOffset = packet.count
        packet.write(UInt8(0))
        if let subevent { packet.write(subevent.rawValue) }
        encodeParameters(into: &packet)
        packet.overwrite(UInt8(truncatingIfNeeded: packet.count - lengthOffset - 1), at: lengthOffset)
    }
}
