/// Reset: the controller forgets its links, settings and lists (Core 5.4, Vol 4, Part E, 7.3.2).
public struct Reset: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0003)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
