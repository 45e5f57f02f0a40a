/// Command Complete: the controller has done a command, or refused it (Core 5.4, Vol 4, Part E, 7.7.14).
public struct CommandComplete: HCIEvent {
    public static let code = HCIEventCode.commandComplete

    /// How many commands the host may send now (Num_HCI_Command_Packets).
    public var commandCredits: UInt8
    /// Zero if the event belongs to no command and only updates the credits.
    public var opcode: HCIOpcode
    /// All return parameters, including the status.
    public var returnParameters: [UInt8]

    public init(commandCredits: UInt8 = 1, opcode: HCIOpcode, returnParameters: [UInt8] = []) {
        self.commandCredits = commandCredits
        self.opcode = opcode
        self.returnParameters = returnParameters
    }

    /// Creates the answer to a command of type `Command`.
    public init<Command: HCICommand>(
        _ command: Command.Type, commandCredits: UInt8 = 1, returnParameters: Command.ReturnParameters
    ) {
        var packet = PacketWriter()
        returnParameters.encode(into: &packet)
        self.init(commandCredits: commandCredits, opcode: Command.opcode, returnParameters: packet.bytes)
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        commandCredits = try reader.read()
        opcode = HCIOpcode(rawValue: try reader.read())
        returnParameters = reader.readRest().copied()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(commandCredits)
        packet.write(opcode.rawValue)
        packet.write(bytes: returnParameters)
    }

    /// The return parameters as those of `Command`.
    /// - Throws: `DecodingError.invalidValue` when the event answers another command, and the errors of decoding.
    public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodingError) -> Command.ReturnParameters {
        guard opcode == Command.opcode else { throw .invalidValue(UInt64(opcode.rawValue), field: .opcode) }
        var reader = PacketReader(returnParameters.span.bytes)
        return try Command.ReturnParameters(decoding: &reader)
    }
}

/// A Command Complete event in place, without copying its return parameters (Core 5.4, Vol 4, Part E, 7.7.14).
public struct CommandCompleteView: ~Escapable {
    /// How many commands the host may send now (Num_HCI_Command_Packets).
    public let commandCredits: UInt8
    /// Zero if the event belongs to no command and only updates the credits.
    public let opcode: HCIOpcode
    /// All return parameters, including the status.
    public let returnParameters: RawSpan

    /// - Throws: `DecodingError.truncated` when the header is incomplete.
    @inlinable @_lifetime(copy reader)
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        commandCredits = try reader.read()
        opcode = HCIOpcode(rawValue: try reader.read())
        returnParameters = reader.readRest()
    }

    /// The return parameters as those of `Command`.
    /// - Throws: `DecodingError.invalidValue` when the event answers another command, and the errors of decoding.
    @inlinable
    public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodingError) -> Command.ReturnParameters {
        guard opcode == Command.opcode else { throw .invalidValue(UInt64(opcode.rawValue), field: .opcode) }
        var reader = PacketReader(returnParameters)
        return try Command.ReturnParameters(decoding: &reader)
    }

    /// A copy that may outlive the packet.
    public func copied() -> CommandComplete {
        CommandComplete(commandCredits: commandCredits, opcode: opcode, returnParameters: returnParameters.copied())
    }
}
