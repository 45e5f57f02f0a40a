/// LE Set Transmit Power Reporting Enable: whether `LETransmitPowerReporting` comes when a power changes (Core 5.4, Vol
/// 4, Part E, 7.8.121).
public struct LESetTransmitPowerReportingEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x007A)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// Whether changes of this device's power are reported.
    public var reportsLocal: Bool
    /// Whether changes of the peer's power are reported.
    public var reportsRemote: Bool

    public init(connectionHandle: ConnectionHandle, reportsLocal: Bool, reportsRemote: Bool) {
        self.connectionHandle = connectionHandle
        self.reportsLocal = reportsLocal
        self.reportsRemote = reportsRemote
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        reportsLocal = try reader.readBoolean()
        reportsRemote = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(boolean: reportsLocal)
        packet.write(boolean: reportsRemote)
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
