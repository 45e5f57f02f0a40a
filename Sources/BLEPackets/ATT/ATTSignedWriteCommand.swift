/// Signed Write Command: a Write Command that proves its sender (Core 5.4, Vol 3, Part F, 3.4.5.4).
public struct ATTSignedWriteCommand: ATTProtocolDataUnit, ~Escapable {
    /// 0xD2, from the client, on links without encryption; the server ignores it if the signature is wrong.
    public static var opcode: ATTOpcode { .signedWriteCommand }

    /// Octets of the signature: a counter of four and a code of eight (Core 5.4, Vol 3, Part H, 2.4.5).
    public static var signatureLength: Int { 12 }

    /// The attribute to write, 0x0001 to 0xFFFF.
    public let handle: AttributeHandle
    /// The new value, at most MTU − 15 octets, without the signature.
    public let value: RawSpan
    /// How often the sender has signed before.
    public let signCounter: UInt32
    /// The message authentication code, as in the packet.
    public let authenticationCode: UInt64

    @inlinable @_lifetime(copy value)
    public init(handle: AttributeHandle, value: RawSpan, signCounter: UInt32, authenticationCode: UInt64) {
        self.handle = handle
        self.value = value
        self.signCounter = signCounter
        self.authenticationCode = authenticationCode
    }

    /// Decodes the signature without checking it, which needs the sender's signing key.
    /// - Throws: `DecodingError` when the opcode is another one or the PDU is shorter than 15 octets.
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
