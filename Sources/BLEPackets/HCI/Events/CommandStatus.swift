/// Command Status: the controller began with a command, or refused it (Core 5.4, Vol 4, Part E, 7.7.15).
public struct CommandStatus: HCIEvent {
    public static let code = HCIEventCode.commandStatus

    public var status: HCIStatus
    /// How many commands the host may send now (Num_HCI_Command_Packets).
    public var commandCredits: UInt8
    /// Zero where the event stands for no command and only gives credits.
    public var opcode: HCIOpcode

    public init(status: HCIStatus = .success, commandCredits: UInt8 = 1, opcode: HCIOpcode) {
        self.status = status
        self.commandCredits = commandCredits
        self.opcode = opcode
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        commandCredits = try reader.read()
        opcode = HCIOpcode(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(commandCredits)
        packet.write(opcode.rawValue)
    }
}
