/// Exchange MTU Request: the largest PDU that the client can receive (Core 5.4, Vol 3, Part F, 3.4.2.1).
public struct ATTExchangeMTURequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x02, from the client, at most once on an LE link.
    public static let opcode = ATTOpcode.exchangeMTURequest

    /// Octets, at least 23; smaller numbers are not changed.
    public var clientReceiveMTU: UInt16

    @inlinable public init(clientReceiveMTU: UInt16) { self.clientReceiveMTU = clientReceiveMTU }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has not exactly 3 octets.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        clientReceiveMTU = try reader.read()
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(clientReceiveMTU)
    }
}

/// Exchange MTU Response: the largest PDU that the server can receive (Core 5.4, Vol 3, Part F, 3.4.2.2).
public struct ATTExchangeMTUResponse: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x03, from the server. From then on both sides use the smaller one of the two sizes, and never less than 23.
    public static let opcode = ATTOpcode.exchangeMTUResponse

    /// Octets, at least 23; smaller numbers are not changed.
    public var serverReceiveMTU: UInt16

    @inlinable public init(serverReceiveMTU: UInt16) { self.serverReceiveMTU = serverReceiveMTU }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has not exactly 3 octets.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        serverReceiveMTU = try reader.read()
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(serverReceiveMTU)
    }
}
