/// Find By Type Value Response: the attributes and the ends of their groups (Core 5.4, Vol 3, Part F, 3.4.3.4).
public struct ATTFindByTypeValueResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x07, from the server; as many ranges as fit into the PDU, at least one.
    public static var opcode: ATTOpcode { .findByTypeValueResponse }

    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for an empty list and an incomplete last pair.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        list = try ATTElementList(reader.readRest(), elementLength: 4)
    }

    /// The number of ranges that have not been read.
    @inlinable public var count: Int { list.count }

    /// Reads the next range: the attribute that was found, and the last handle of its group.
    @inlinable
    public mutating func next() -> AttributeHandleRange? {
        guard let bytes = list.next() else { return nil }
        var reader = PacketReader(bytes)
        return try? AttributeHandleRange(decoding: &reader)
    }

    /// Writes the ranges that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(into: &packet)
        packet.write(bytes: list.bytes)
    }

    /// Begins a response; its ranges follow with `encode(_:into:)`.
    public static func encodeHeader(into packet: inout PacketWriter) { packet.write(opcode.rawValue) }

    /// Adds a range: first the attribute found, then the last handle of its group, which is the same handle for an
    /// attribute that begins no group.
    public static func encode(_ range: AttributeHandleRange, into packet: inout PacketWriter) {
        range.encode(into: &packet)
    }
}
