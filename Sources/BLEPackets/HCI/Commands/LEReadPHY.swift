/// LE Read PHY: the PHYs that a link uses (Core 5.4, Vol 4, Part E, 7.8.47).
public struct LEReadPHY: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0030)
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
        /// The PHY from this device to the peer.
        public var transmitPHY = PHY(rawValue: 0)
        /// The PHY from the peer to this device.
        public var receivePHY = PHY(rawValue: 0)

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            transmitPHY: PHY = PHY(rawValue: 0), receivePHY: PHY = PHY(rawValue: 0)
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.transmitPHY = transmitPHY
            self.receivePHY = receivePHY
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            transmitPHY = PHY(rawValue: try reader.read())
            receivePHY = PHY(rawValue: try reader.read())
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            packet.write(transmitPHY.rawValue)
            packet.write(receivePHY.rawValue)
        }
    }
}
