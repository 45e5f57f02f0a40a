/// LE Clear Periodic Advertiser List: disallowed while an attempt to follow a train is under way (Core 5.4, Vol 4, Part
/// E, 7.8.72).
public struct LEClearPeriodicAdvertiserList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0049)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
