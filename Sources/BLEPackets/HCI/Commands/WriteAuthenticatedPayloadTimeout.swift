/// Write Authenticated Payload Timeout: how long an encrypted link may be without an authenticated packet (Core 5.4,
/// Vol 4, Part E, 7.3.94).
public struct WriteAuthenticatedPayloadTimeout: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x007C)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// Units of 10 ms, 1 to 65,535; above the connection interval times the latency.
    public var timeout: UInt16

    public init(connectionHandle: ConnectionHandle, timeout: UInt16 = 3000) {
        self.connectionHandle = connectionHandle
        self.timeout = timeout
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        timeout = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(timeout)
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
