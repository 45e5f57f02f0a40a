/// Write Request: sets a value and asks for an answer (Core 5.4, Vol 3, Part F, 3.4.5.1).
public struct ATTWriteRequest: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .writeRequest }

    public let handle: AttributeHandle
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, value: RawSpan) {
        self.handle = handle
        self.value = value
    }

    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(bytes: value)
    }
}

/// Write Response: the value is set (Core 5.4, Vol 3, Part F, 3.4.5.2).
public struct ATTWriteResponse: ATTProtocolDataUnit, Equatable, Sendable {
    public static let opcode = ATTOpcode.writeResponse

    @inlinable public init() {}

    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        try parameters(of: pdu, Self.opcode).expectEnd()
    }

    public func encode(into packet: inout PacketWriter) { packet.write(Self.opcode.rawValue) }
}

/// Write Command: sets a value and learns nothing of it (Core 5.4, Vol 3, Part F, 3.4.5.3).
public struct ATTWriteCommand: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .writeCommand }

    public let handle: AttributeHandle
    public let value: RawSpan

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, value: RawSpan) {
        self.handle = handle
        self.value = value
    }

    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        value = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(bytes: value)
    }
}

/// Signed Write Command: a Write Command that proves its sender (Core 5.4, Vol 3, Part F, 3.4.5.4).
public struct ATTSignedWriteCommand: ATTProtocolDataUnit, ~Escapable {
    public static var opcode: ATTOpcode { .signedWriteCommand }

    /// Octets of the signature: a counter of four and a code of eight (Core 5.4, Vol 3, Part H, 2.4.5).
    public static var signatureLength: Int { 12 }

    public let handle: AttributeHandle
    public let value: RawSpan
    /// How often the sender has signed before.
    public let signCounter: UInt32
    /// The message authentication code, as it stands in the packet.
    public let authenticationCode: UInt64

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, value: RawSpan, signCounter: UInt32, authenticationCode: UInt64) {
        self.handle = handle
        self.value = value
        self.signCounter = signCounter
        self.authenticationCode = authenticationCode
    }

    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handle = AttributeHandle(rawValue: try reader.read())
        guard reader.remainingCount >= Self.signatureLength else {
            throw .truncated(needed: Self.signatureLength, remaining: reader.remainingCount)
        }
        value = try reader.readBytes(reader.remainingCount - Self.signatureLength)
        signCounter = try reader.read()
        authenticationCode = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(bytes: value)
        packet.write(signCounter)
        packet.write(authenticationCode)
    }
}
