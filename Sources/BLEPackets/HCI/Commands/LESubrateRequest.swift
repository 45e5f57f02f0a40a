/// LE Subrate Request: asks for a link to use only some of its connection events (Core 5.4, Vol 4, Part E, 7.8.124).
///
/// Command Status comes at once, `LESubrateChange` when it is settled.
public struct LESubrateRequest: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x007E)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle
    public var parameters: SubrateParameters

    public init(connectionHandle: ConnectionHandle, parameters: SubrateParameters) {
        self.connectionHandle = connectionHandle
        self.parameters = parameters
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        parameters = try SubrateParameters(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        parameters.encode(into: &packet)
    }
}
