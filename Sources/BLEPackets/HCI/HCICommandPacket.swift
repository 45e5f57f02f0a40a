/// A command packet on HCI with any command (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCICommandPacket: Hashable, Sendable {
    /// Which command this is; also commands that have no type here.
    public var opcode: HCIOpcode
    /// At most 255 octets; what is beyond them is not sent.
    public var parameters: [UInt8]

    public init(opcode: HCIOpcode, parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// The packet of a command, with its parameters encoded.
    public init<Command: HCICommand>(_ command: Command) {
        var packet = PacketWriter()
        command.encode(into: &packet)
        self.init(opcode: Command.opcode, parameters: packet.bytes)
    }

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the parameters differs from the header.
    public init(decoding packet: RawSpan) throws(DecodingError) {
        let view = try HCICommandPacketView(decoding: packet)
        self.init(opcode: view.opcode, parameters: view.parameters.copied())
    }

    /// Writes opcode, length and parameters.
    public func encode(into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        packet.write(counted: parameters)
    }

    /// Writes a whole H4 command packet: type, opcode, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.command.rawValue)
        encode(into: &packet)
    }

    /// The parameters as those of `Command`.
    /// - Throws: `DecodingError.invalidValue` when the packet is another command, `DecodingError.trailingBytes` when
    ///   there are more parameters than the command has, and the errors of decoding.
    public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodingError) -> Command {
        guard opcode == Command.opcode else { throw .invalidValue(UInt64(opcode.rawValue), field: .opcode) }
        var reader = PacketReader(parameters.span.bytes)
        let value = try Command(decoding: &reader)
        try reader.expectEnd()
        return value
    }
}

/// A command packet in place, without copying its parameters (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCICommandPacketView: ~Escapable {
    /// Which command this is.
    public let opcode: HCIOpcode
    /// The parameters.
    public let parameters: RawSpan

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the parameters differs from the header.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        opcode = HCIOpcode(rawValue: try reader.read())
        let length = Int(try reader.read(UInt8.self))
        guard reader.remainingCount == length else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        parameters = reader.readRest()
    }

    /// The parameters as those of `Command`.
    /// - Throws: `DecodingError.invalidValue` when the packet is another command, `DecodingError.trailingBytes` when
    ///   there are more parameters than the command has, and the errors of decoding.
    @inlinable
    public func decode<Command: HCICommand>(_ command: Command.Type) throws(DecodingError) -> Command {
        guard opcode == Command.opcode else { throw .invalidValue(UInt64(opcode.rawValue), field: .opcode) }
        var reader = PacketReader(parameters)
        let value = try Command(decoding: &reader)
        try reader.expectEnd()
        return value
    }
}
