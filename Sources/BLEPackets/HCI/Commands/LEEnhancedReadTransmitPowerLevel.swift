/// LE Enhanced Read Transmit Power Level: the power with which a link is sent on one PHY (Core 5.4, Vol 4, Part E,
/// 7.8.117).
public struct LEEnhancedReadTransmitPowerLevel: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0076)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// As `PHY`, but 3 is LE Coded with S = 8 and 4 with S = 2.
    public var phy: UInt8

    public init(connectionHandle: ConnectionHandle, phy: UInt8) {
        self.connectionHandle = connectionHandle
        self.phy = phy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        phy = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(phy)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)
        /// As `PHY`, but 3 is LE Coded with S = 8 and 4 with S = 2.
        public var phy: UInt8 = 0
        /// dBm; 127 when it is not known.
        public var current: Int8 = 0
        /// dBm; 127 when it is not known.
        public var maximum: Int8 = 0

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            phy: UInt8 = 0, current: Int8 = 0, maximum: Int8 = 0
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.phy = phy
            self.current = current
            self.maximum = maximum
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            phy = try reader.read()
            current = try reader.read()
            maximum = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            packet.write(phy)
            packet.write(current)
            packet.write(maximum)
        }
    }
}
