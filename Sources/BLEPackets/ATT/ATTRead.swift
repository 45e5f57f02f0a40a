/// Read Request: the value of one attribute (Core 5.4, Vol 3, Part F, 3.4.4.3).
public struct ATTReadRequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x0A, from the client.
    public static let opcode = ATTOpcode.readRequest

    /// The attribute to read, 0x0001 to 0xFFFF.
    public var handle: AttributeHandle

    @inlinable public init(handle: AttributeHandle) { self.handle = handle }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has not exactly 3 octets.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
    }
}

/// Read Response: the value, cut at MTU − 1 octets (Core 5.4, Vol 3, Part F, 3.4.4.4).
public struct ATTReadResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x0B, from the server.
    public static var opcode: ATTOpcode { .readResponse }

    /// The value from its beginning on. If the PDU is full, the value may be longer: a client reads the rest with Read
    /// Blob Request from offset MTU − 1.
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(value: RawSpan) { self.value = value }

    /// - Throws: `DecodingError` when the opcode is another one; the value may be empty.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(bytes: value)
    }
}

/// Read Blob Request: the value of one attribute from an offset on (Core 5.4, Vol 3, Part F, 3.4.4.5).
public struct ATTReadBlobRequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x0C, from the client, for a value that is longer than one response.
    public static let opcode = ATTOpcode.readBlobRequest

    /// The attribute to read, 0x0001 to 0xFFFF.
    public var handle: AttributeHandle
    /// Octets of the value to leave out.
    public var offset: UInt16

    @inlinable
    public init(handle: AttributeHandle, offset: UInt16) {
        self.handle = handle
        self.offset = offset
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has not exactly 5 octets.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        offset = try reader.read()
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(offset)
    }
}

/// Read Blob Response: a part of the value, cut at MTU − 1 octets (Core 5.4, Vol 3, Part F, 3.4.4.6).
public struct ATTReadBlobResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x0D, from the server.
    public static var opcode: ATTOpcode { .readBlobResponse }

    /// The part from the offset of the request on. Less than MTU − 1 octets, or none, mean that the value ends here.
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(value: RawSpan) { self.value = value }

    /// - Throws: `DecodingError` when the opcode is another one; the part may be empty.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(bytes: value)
    }
}
