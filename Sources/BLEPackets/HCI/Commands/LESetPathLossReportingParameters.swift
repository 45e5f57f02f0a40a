/// LE Set Path Loss Reporting Parameters: at which losses `LEPathLossThreshold` comes (Core 5.4, Vol 4, Part E,
/// 7.8.119).
public struct LESetPathLossReportingParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0078)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// dB; 0xFF for none.
    public var highThreshold: UInt8
    /// dB.
    public var highHysteresis: UInt8
    /// dB.
    public var lowThreshold: UInt8
    /// dB.
    public var lowHysteresis: UInt8
    /// Connection events in a zone before it is reported.
    public var minimumTimeSpent: UInt16

    public init(
        connectionHandle: ConnectionHandle, highThreshold: UInt8, highHysteresis: UInt8, lowThreshold: UInt8,
        lowHysteresis: UInt8, minimumTimeSpent: UInt16
    ) {
        self.connectionHandle = connectionHandle
        self.highThreshold = highThreshold
        self.highHysteresis = highHysteresis
        self.lowThreshold = lowThreshold
        self.lowHysteresis = lowHysteresis
        self.minimumTimeSpent = minimumTimeSpent
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        highThreshold = try reader.read()
        highHysteresis = try reader.read()
        lowThreshold = try reader.read()
        lowHysteresis = try reader.read()
        minimumTimeSpent = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(highThreshold)
        packet.write(highHysteresis)
        packet.write(lowThreshold)
        packet.write(lowHysteresis)
        packet.write(minimumTimeSpent)
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
