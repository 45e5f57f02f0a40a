/// Encryption Key Refresh Complete: an encrypted link uses a new key (Core 5.4, Vol 4, Part E, 7.7.39).
public struct EncryptionKeyRefreshComplete: HCIEvent {
    public static let code = HCIEventCode.encryptionKeyRefreshComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle) {
        self.status = status
        self.connectionHandle = connectionHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
    }
}
