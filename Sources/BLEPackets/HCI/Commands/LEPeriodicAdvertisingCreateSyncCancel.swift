/// LE Periodic Advertising Create Sync Cancel: ends the attempt to follow a train (Core 5.4, Vol 4, Part E, 7.8.68).
public struct LEPeriodicAdvertisingCreateSyncCancel: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0045)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
