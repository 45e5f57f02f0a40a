/// Prepare Write Request: puts a part of a value in the server's queue (Core 5.4, Vol 3, Part F, 3.4.6.1).
public struct ATTPrepareWriteRequest: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .prepareWriteRequest }

    public let handle: AttributeHandle
    /// Where in the attribute the part belongs.
    public let offset: UInt16
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: RawSpan) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

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
    public static var opcode: ATTOpcode { .prepareWriteResponse }

    public let handle: AttributeHandle
    public let offset: UInt16
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: RawSpan) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

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
    public static let opcode = ATTOpcode.executeWriteRequest

    public enum Flags: UInt8, Sendable {
        case cancel = 0x00
        case write = 0x01
    }

    public var flags: Flags

    @inlinable public init(flags: Flags) { self.flags = flags }

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
    public static let opcode = ATTOpcode.executeWriteResponse

    @inlinable public init() {}

    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        try parameters(of: pdu, Self.opcode).expectEnd()
    }

    public func encode(into packet: inout PacketWriter) { packet.write(Self.opcode.rawValue) }
}
