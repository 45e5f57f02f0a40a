/// Read RSSI: how strong the peer of a link is received (Core 5.4, Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCICommand {
    public static let opcode = HCIOpcode(group: .statusParameters, command: 0x0005)
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
        /// dBm; 127 when it is not known.
        public var rssi: Int8 = 127

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            rssi: Int8 = 127
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.rssi = rssi
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            rssi = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            packet.write(rssi)
        }
    }
}
