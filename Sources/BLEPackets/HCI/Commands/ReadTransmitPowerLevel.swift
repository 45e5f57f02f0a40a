/// Read Transmit Power Level: the power with which a link is sent (Core 5.4, Vol 4, Part E, 7.3.35).
public struct ReadTransmitPowerLevel: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x002D)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    public var kind: TransmitPowerKind

    public init(connectionHandle: ConnectionHandle, kind: TransmitPowerKind = .current) {
        self.connectionHandle = connectionHandle
        self.kind = kind
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        kind = TransmitPowerKind(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(kind.rawValue)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)
        /// dBm.
        public var transmitPower: Int8 = 0

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            transmitPower: Int8 = 0
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.transmitPower = transmitPower
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            transmitPower = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            packet.write(transmitPower)
        }
    }
}
