/// Read Local Supported Commands: which commands the controller says it knows (Core 5.4, Vol 4, Part E, 7.4.2).
///
/// Controllers are not always right about it.
public struct ReadLocalSupportedCommands: HCICommand {
    public static let opcode = HCIOpcode(group: .informationalParameters, command: 0x0002)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var commands = SupportedCommands()

        public init(status: HCIStatus = .success, commands: SupportedCommands = SupportedCommands()) {
            self.status = status
            self.commands = commands
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            commands = try SupportedCommands(decoding: &reader)
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            commands.encode(into: &packet)
        }
    }
}
