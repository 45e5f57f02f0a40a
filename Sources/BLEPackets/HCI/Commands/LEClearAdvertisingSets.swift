/// LE Clear Advertising Sets: removes all; disallowed while one runs (Core 5.4, Vol 4, Part E, 7.8.60).
public struct LEClearAdvertisingSets: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003D)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
