/// LE Request Peer SCA: asks how exact the peer's sleep clock is (Core 5.4, Vol 4, Part E, 7.8.108).
///
/// Command Status comes at once, `LERequestPeerSCAComplete` when the peer has answered.
public struct LERequestPeerSCA: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x006D)
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
