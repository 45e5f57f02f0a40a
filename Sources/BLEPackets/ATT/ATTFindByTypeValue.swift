/// Find By Type Value Request: attributes of a type that hold a value (Core 5.4, Vol 3, Part F, 3.4.3.3).
public struct ATTFindByTypeValueRequest: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .findByTypeValueRequest }

    public let range: AttributeHandleRange
    /// A UUID of 16 bits: the request has no room for more.
    public let type: UInt16
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(range: AttributeHandleRange, type: UInt16, value: RawSpan) {
        self.range = range
        self.type = type
        self.value = value
    }

    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        range = try AttributeHandleRange(decoding: &reader)
        type = try reader.read()
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        range.encode(into: &packet)
        packet.write(type)
        packet.write(bytes: value)
    }
}

/// Find By Type Value Response: where the attributes begin and where their groups end
/// (Core 5.4, Vol 3, Part F, 3.4.3.4).
public struct ATTFindByTypeValueResponse: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .findByTypeValueResponse }

    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for an empty list and a rest that is no whole pair.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        list = try ATTElementList(reader.readRest(), elementLength: 4)
    }

    /// Ranges that have not been taken.
    @inlinable public var count: Int { list.count }

    /// Takes the next range: the attribute found, and the last handle of its group.
    @inlinable
    public mutating func next() -> AttributeHandleRange? {
        guard let bytes = list.next() else { return nil }
        var reader = PacketReader(bytes)
        return try? AttributeHandleRange(decoding: &reader)
    }

    /// Writes the ranges that have not been taken.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(into: &packet)
        packet.write(bytes: list.bytes)
    }

    /// Begins a response; its ranges follow with `encode(_:into:)`.
    public static func encodeHeader(into packet: inout PacketWriter) { packet.write(opcode.rawValue) }

    public static func encode(_ range: AttributeHandleRange, into packet: inout PacketWriter) {
        range.encode(into: &packet)
    }
}
