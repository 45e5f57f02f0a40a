/// LE Create Connection Cancel: ends the attempt to connect (Core 5.4, Vol 4, Part E, 7.8.13).
///
/// Behind Command Complete comes a connection complete event: with the status `unknownConnectionIdentifier`, or with a
/// link that was faster.
public struct LECreateConnectionCancel: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x000E)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
