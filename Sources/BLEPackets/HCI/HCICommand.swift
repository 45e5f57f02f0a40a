/// A command that the host sends to the controller (Core 5.4, Vol 4, Part E, 7).
///
/// `encode` and `init(decoding:)` handle the parameters alone; `HCICommandPacket` puts the header before them.
public protocol HCICommand: Equatable, Sendable {
    /// What Command Complete carries behind the opcode; `CommandStatusOnly` where that is the status alone, and for
    /// commands that are answered by Command Status.
    associatedtype ReturnParameters: HCIReturnParameters = CommandStatusOnly

    /// The number under which the controller knows the command.
    static var opcode: HCIOpcode { get }
    /// Which event the controller answers with at once.
    static var answer: CommandAnswer { get }

    /// - Throws: `DecodingError` when the parameters are too short or a field has no meaning.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the parameters, without opcode and length.
    func encode(into packet: inout PacketWriter)
}

/// Whether the controller answers with Command Complete, or with Command Status and a later event.
public enum CommandAnswer: Sendable { case complete, status }

/// The return parameters of a Command Complete event, the status included where the command has one.
public protocol HCIReturnParameters: Equatable, Sendable {
    /// What the controller says of the command.
    var status: HCIStatus { get }
    /// - Throws: `DecodingError` when a successful answer is too short. A controller may cut an unsuccessful one
    ///   behind its status; then the remaining fields are zero.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the return parameters, the status first where there is one.
    func encode(into packet: inout PacketWriter)
}

/// Return parameters that are a status and nothing else.
public struct CommandStatusOnly: HCIReturnParameters {
    public var status: HCIStatus
    public init(status: HCIStatus = .success) { self.status = status }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) { packet.write(status.rawValue) }
}

extension HCICommand {
    /// Writes a whole H4 command packet: type, opcode, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.command.rawValue)
        packet.write(Self.opcode.rawValue)
        let lengthOffset = packet.count
        packet.write(UInt8(0))
        encode(into: &packet)
        packet.overwrite(UInt8(truncatingIfNeeded: packet.count - lengthOffset - 1), at: lengthOffset)
    }
}
