/// Read Authenticated Payload Timeout: how long an encrypted link may be without an authenticated packet (Core 5.4, Vol
/// 4, Part E, 7.3.93).
public struct ReadAuthenticatedPayloadTimeout: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x007B)
    public static let answer = CommandAnswer.complete

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

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)
        /// Units of 10 ms.
        public var timeout: UInt16 = 0

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            timeout: UInt16 = 0
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.timeout = timeout
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            timeout = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            packet.write(timeout)
        }
    }
}
