/// LE Read Remote Transmit Power Level: asks for the power with which the peer sends on one PHY (Core 5.4, Vol 4, Part
/// E, 7.8.118).
///
/// Command Status comes at once, `LETransmitPowerReporting` when the peer has answered.
public struct LEReadRemoteTransmitPowerLevel: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0077)
    public static let answer = CommandAnswer.status

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
}
