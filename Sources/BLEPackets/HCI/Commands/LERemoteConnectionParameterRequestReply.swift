/// LE Remote Connection Parameter Request Reply: agrees to what `LERemoteConnectionParameterRequest` asked (Core 5.4,
/// Vol 4, Part E, 7.8.31).
public struct LERemoteConnectionParameterRequestReply: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0020)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    public var parameters: LEConnectionParameters

    public init(connectionHandle: ConnectionHandle, parameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.parameters = parameters
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        parameters = try LEConnectionParameters(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        parameters.encode(into: &packet)
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
