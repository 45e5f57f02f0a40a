/// LE Clear Resolving List (Core 5.4, Vol 4, Part E, 7.8.40).
public struct LEClearResolvingList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0029)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
