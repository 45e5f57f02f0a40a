/// Read Remote Version Information: asks who made the peer's controller (Core 5.4, Vol 4, Part E, 7.1.23).
///
/// Command Status comes at once, `ReadRemoteVersionInformationComplete` when the peer has answered.
public struct ReadRemoteVersionInformation: HCICommand {
    public static let opcode = HCIOpcode(group: .linkControl, command: 0x001D)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) {
        self.connectionHandle = connectionHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
    }
}
