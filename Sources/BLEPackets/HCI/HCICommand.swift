/// A command that the host sends to the controller (Core 5.4, Vol 4, Part E, 7).
///
/// `encode` and `init(decoding:)` handle only the parameters; `HCICommandPacket` adds the header.
public protocol HCICommand: Equatable, Sendable {
    /// The parameters of Command Complete after the opcode; `CommandStatusOnly` if that is only the status, and for
    /// commands that are answered with Command Status.
    associatedtype ReturnParameters: HCIReturnParameters = CommandStatusOnly

    /// The number under which the controller knows the command.
    static var opcode: HCIOpcode { get }
    /// The event with which the controller answers at once.
    static var answer: CommandAnswer { get }

    /// - Throws: `DecodingError` when the parameters are too short or a field has no meaning.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the parameters, without opcode and length.
    func encode(into packet: inout PacketWriter)
}

/// Whether the controller answers with Command Complete, or with Command Status and a later event.
public enum CommandAnswer: Sendable { case complete, status }

/// The return parameters of a Command Complete event, including the status.
public protocol HCIReturnParameters: Equatable, Sendable {
    /// The result of the command.
    var status: HCIStatus { get }
    /// - Throws: `DecodingError` when a successful answer is too short. A controller may cut an answer with an error
    ///   off after its status; then the remaining fields are zero.
    init(decoding reader: inout PacketReader) throws(DecodingError)
    /// Writes the return parameters, the status first.
    func encode(into packet: inout PacketWriter)
}

/// Return parameters with only a status.
public struct CommandStatusOnly: HCIReturnParameters {
    public var status: HCIStatus
    public init(status: HCIStatus = .success) { self.status = status }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) { packet.write(status.rawValue) }
}

/// Return parameters with only a status and the link that the command named.
public struct CommandStatusAndHandle: HCIReturnParameters {
    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0)) {
        self.status = status
        self.connectionHandle = connectionHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        self.init(status: HCIStatus(rawValue: try reader.read()))
        if !status.isSuccess, reader.isAtEnd { return }
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
    }
}

/// A command without parameters.
public protocol HCIPlainCommand: HCICommand {
    init()
}

extension HCIPlainCommand {
    @inlinable public init(decoding reader: inout PacketReader) throws(DecodingError) { self.init() }
    @inlinable public func encode(into packet: inout PacketWriter) {}
}

/// A command whose only parameter is the handle of a link.
public protocol HCILinkCommand: HCICommand {
    var connectionHandle: ConnectionHandle { get }
    init(connectionHandle: ConnectionHandle)
}

extension HCILinkCommand {
    @inlinable
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        self.init(connectionHandle: ConnectionHandle(rawValue: try reader.read()))
    }

    @inlinable public func encode(into packet: inout PacketWriter) { packet.write(connectionHandle.rawValue) }
}

extension HCICommand {
    /// Writes a whole H4 command packet: type, opcode, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        let lengthOffset = packet.beginCommand(Self.opcode)
        encode(into: &packet)
        packet.endCommand(lengthOffset: lengthOffset)
    }
}

/// What all commands have, apart from `encodePacket`, so that it is not compiled for each command again.
extension PacketWriter {
    /// - Returns: where the length goes, which `endCommand` writes.
    @inline(never)
    mutating func beginCommand(_ opcode: HCIOpcode) -> Int {
        write(H4PacketType.command.rawValue)
        write(opcode.rawValue)
        let lengthOffset = count
        write(UInt8(0))
        return lengthOffset
    }

    @inline(never)
    mutating func endCommand(lengthOffset: Int) {
        overwrite(UInt8(truncatingIfNeeded: count - lengthOffset - 1), at: lengthOffset)
    }
}
