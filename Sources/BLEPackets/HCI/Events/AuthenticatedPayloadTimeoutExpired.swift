/// Authenticated Payload Timeout Expired: an encrypted link was without an authenticated packet for too long (Core 5.4,
/// Vol 4, Part E, 7.7.75).
public struct AuthenticatedPayloadTimeoutExpired: HCIEvent {
    public static let code = HCIEventCode.authenticatedPayloadTimeoutExpired

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
