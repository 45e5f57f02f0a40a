/// LE Read Remote Features: asks what the peer's link layer can do (Core 5.4, Vol 4, Part E, 7.8.21).
///
/// Command Status comes at once, `LEReadRemoteFeaturesComplete` when the peer has answered.
public struct LEReadRemoteFeatures: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0016)
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
