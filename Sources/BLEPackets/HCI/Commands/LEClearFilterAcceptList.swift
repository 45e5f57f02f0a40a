/// LE Clear Filter Accept List: disallowed while scanning, advertising or initiating uses the list (Core 5.4, Vol 4,
/// Part E, 7.8.15).
public struct LEClearFilterAcceptList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0010)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
