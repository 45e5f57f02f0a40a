/// Prepare Write Request: puts a part of a value in the server's queue (Core 5.4, Vol 3, Part F, 3.4.6.1).
public struct ATTPrepareWriteRequest: ATTProtocolDataUnit, ~Escapable {
    /// 0x16, from the client, once for each part; nothing is written before Execute Write Request.
    public static var opcode: ATTOpcode { .prepareWriteRequest }

    /// The attribute to write; the parts of one queue may be for several attributes.
    public let handle: AttributeHandle
    /// Where in the attribute the part belongs.
    public let offset: UInt16
    /// The part, at most MTU − 5 octets.
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: RawSpan) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU is shorter than 5 octets.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        offset = try reader.read()
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(offset)
        packet.write(bytes: value)
    }
}

/// Prepare Write Response: what the server put in its queue, for comparison (Core 5.4, Vol 3, Part F, 3.4.6.2).
public struct ATTPrepareWriteResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x17, from the server; all parameters repeat those of the request.
    public static var opcode: ATTOpcode { .prepareWriteResponse }

    /// The attribute as the server understood it.
    public let handle: AttributeHandle
    /// Where in the attribute the server will put the part, in octets.
    public let offset: UInt16
    /// The part as the server has it. A client that finds a difference empties the queue with `.cancel`.
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: RawSpan) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU is shorter than 5 octets.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        offset = try reader.read()
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(offset)
        packet.write(bytes: value)
    }
}

/// Execute Write Request: carries out the queue, or forgets it (Core 5.4, Vol 3, Part F, 3.4.6.3).
public struct ATTExecuteWriteRequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x18, from the client, for all parts in the queue.
    public static let opcode = ATTOpcode.executeWriteRequest

    /// What to do with the queue.
    public enum Flags: UInt8, Sendable {
        /// Discard all parts; nothing is written.
        case cancel = 0x00
        /// Write all parts in their order. If one fails, the response is an error, and the values of the attributes are
        /// undefined.
        case write = 0x01
    }

    /// Whether the queue is written or forgotten.
    public var flags: Flags

    @inlinable public init(flags: Flags) { self.flags = flags }

    /// - Throws: `DecodingError` when the opcode is another one, the PDU has not exactly 2 octets, or the flags are
    ///   neither 0 nor 1.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        let octet = try reader.read(UInt8.self)
        guard let flags = Flags(rawValue: octet) else { throw .invalidValue(UInt64(octet), field: .boolean) }
        self.flags = flags
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(flags.rawValue)
    }
}

/// Execute Write Response: the queue is empty (Core 5.4, Vol 3, Part F, 3.4.6.4).
public struct ATTExecuteWriteResponse: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x19, from the server, for both kinds of the request.
    public static let opcode = ATTOpcode.executeWriteResponse

    @inlinable public init() {}

    /// - Throws: `DecodingError` when the opcode is another one or octets follow it.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        try parameters(of: pdu, Self.opcode).expectEnd()
    }

    public func encode(into packet: inout PacketWriter) { packet.write(Self.opcode.rawValue) }
}
