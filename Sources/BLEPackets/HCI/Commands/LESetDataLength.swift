/// LE Set Data Length: suggests how long the packets of a link may be (Core 5.4, Vol 4, Part E, 7.8.33).
///
/// `LEDataLengthChange` follows where something changes.
public struct LESetDataLength: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0022)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// 27 to 251.
    public var transmitOctets: UInt16
    /// Microseconds, 328 to 17,040.
    public var transmitTime: UInt16

    public init(connectionHandle: ConnectionHandle, transmitOctets: UInt16 = 251, transmitTime: UInt16 = 2120) {
        self.connectionHandle = connectionHandle
        self.transmitOctets = transmitOctets
        self.transmitTime = transmitTime
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        transmitOctets = try reader.read()
        transmitTime = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(transmitOctets)
        packet.write(transmitTime)
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
