/// LE Remote Connection Parameter Request Negative Reply: refuses what `LERemoteConnectionParameterRequest` asked (Core
/// 5.4, Vol 4, Part E, 7.8.32).
public struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0021)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// Why, as the peer is told; `unacceptableConnectionParameters` is usual.
    public var reason: HCIStatus

    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .unacceptableConnectionParameters) {
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

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)

        public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0)) {
            self.status = status
            self.connectionHandle = connectionHandle
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
        }
    }
}
