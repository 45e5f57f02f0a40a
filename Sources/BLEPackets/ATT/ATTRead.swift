/// Read Request: the value of one attribute (Core 5.4, Vol 3, Part F, 3.4.4.3).
public struct ATTReadRequest: ATTProtocolDataUnit, Equatable, Sendable {
    public static let opcode = ATTOpcode.readRequest

    public var handle: AttributeHandle

    @inlinable public init(handle: AttributeHandle) { self.handle = handle }

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
    public static var opcode: ATTOpcode { .readResponse }

    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(value: RawSpan) { self.value = value }

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
    public static let opcode = ATTOpcode.readBlobRequest

    public var handle: AttributeHandle
    /// Octets of the value to leave out.
    public var offset: UInt16

    @inlinable
    public init(handle: AttributeHandle, offset: UInt16) {
        self.handle = handle
        self.offset = offset
    }

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
    public static var opcode: ATTOpcode { .readBlobResponse }

    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(value: RawSpan) { self.value = value }

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
