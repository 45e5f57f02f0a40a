/// Error Response: a request was refused (Core 5.4, Vol 3, Part F, 3.4.1.1).
public struct ATTErrorResponse: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x01, from the server, instead of the response. Commands, notifications and confirmations never get one.
    public static let opcode = ATTOpcode.errorResponse

    /// The opcode of the request that this answers.
    public var request: ATTOpcode
    /// The attribute that caused the error; zero if there is none.
    public var handle: AttributeHandle
    /// The reason for the refusal, as the server sent it; the code may be one that has no name here.
    public var error: ATTError

    @inlinable
    public init(request: ATTOpcode, handle: AttributeHandle, error: ATTError) {
        self.request = request
        self.handle = handle
        self.error = error
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has not exactly 5 octets.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        request = ATTOpcode(rawValue: try reader.read())
        handle = AttributeHandle(rawValue: try reader.read())
        error = ATTError(rawValue: try reader.read())
        try reader.expectEnd()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(request.rawValue)
        packet.write(handle.rawValue)
        packet.write(error.rawValue)
    }
}
