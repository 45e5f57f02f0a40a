/// Encryption Change [v2]: a link is encrypted now, or no longer (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChangeV2: HCIEvent {
    public static let code = HCIEventCode.encryptionChangeV2

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var state: EncryptionState
    /// Octets, 7 to 16; zero when the link is not encrypted.
    public var keySize: UInt8

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, state: EncryptionState, keySize: UInt8
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.state = state
        self.keySize = keySize
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        state = EncryptionState(rawValue: try reader.read())
        keySize = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(state.rawValue)
        packet.write(keySize)
    }
}
