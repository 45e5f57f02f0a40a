/// LE Connection Update: changes the parameters of a link that exists (Core 5.4, Vol 4, Part E, 7.8.18).
///
/// Command Status comes at once, `LEConnectionUpdateComplete` when the parameters hold.
public struct LEConnectionUpdate: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0013)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle
    public var parameters: LEConnectionParameters

    public init(connectionHandle: ConnectionHandle, parameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.parameters = parameters
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        parameters = try LEConnectionParameters(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        parameters.encode(into: &packet)
    }
}
