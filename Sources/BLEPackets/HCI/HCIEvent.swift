/// An event that the controller sends to the host (Core 5.4, Vol 4, Part E, 7.7).
///
/// `encode` and `init(decoding:)` handle only the parameters, for an LE Meta event those after the subevent code.
public protocol HCIEvent: Equatable, Sendable {
    /// The event code in the header.
    static var code: HCIEventCode { get }
    /// - Throws: `DecodingError` when the parameters are too short or a field has no meaning.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the parameters, without code, length and subevent.
    func encode(into packet: inout PacketWriter)
}

/// An event of the LE Meta family (Core 5.4, Vol 4, Part E, 7.7.65).
public protocol LEMetaEvent: HCIEvent {
    /// The subevent code, which is the first parameter.
    static var subevent: LESubeventCode { get }
}

extension LEMetaEvent {
    /// Always `.leMeta`.
    public static var code: HCIEventCode { .leMeta }
}

extension HCIEvent {
    /// Writes a whole H4 event packet: type, code, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.event.rawValue)
        packet.write(Self.code.rawValue)
        let lengthOffset = packet.count
        packet.write(UInt8(0))
        encode(into: &packet)
        packet.overwrite(UInt8(truncatingIfNeeded: packet.count - lengthOffset - 1), at: lengthOffset)
    }
}

extension LEMetaEvent {
    /// Writes a whole H4 event packet: type, code, length, subevent, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.event.rawValue)
        packet.write(Self.code.rawValue)
        let lengthOffset = packet.count
        packet.write(UInt8(0))
        packet.write(Self.subevent.rawValue)
        encode(into: &packet)
        packet.overwrite(UInt8(truncatingIfNeeded: packet.count - lengthOffset - 1), at: lengthOffset)
    }
}
