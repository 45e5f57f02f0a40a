/// Disconnection Complete: a link is gone (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEvent {
    public static let code = HCIEventCode.disconnectionComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// Why the link ended.
    public var reason: HCIStatus

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, reason: HCIStatus) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        reason = HCIStatus(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(reason.rawValue)
    }
}
