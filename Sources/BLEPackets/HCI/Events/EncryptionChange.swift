/// Encryption Change [v1]: a link is encrypted now, or no longer (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChange: HCIEvent {
    public static let code = HCIEventCode.encryptionChange

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var state: EncryptionState

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, state: EncryptionState) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.state = state
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        state = EncryptionState(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(state.rawValue)
    }
}
