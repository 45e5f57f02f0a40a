/// Disconnect: ends a link (Core 5.4, Vol 4, Part E, 7.1.6).
///
/// The controller answers with Command Status at once and with `DisconnectionComplete` when the link is gone.
public struct Disconnect: HCICommand {
    public static let opcode = HCIOpcode(group: .linkControl, command: 0x0006)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle
    /// What the peer is told: for a user's wish `HCIStatus.remoteUserTerminatedConnection`.
    public var reason: HCIStatus

    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .remoteUserTerminatedConnection) {
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        reason = HCIStatus(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(reason.rawValue)
    }
}
