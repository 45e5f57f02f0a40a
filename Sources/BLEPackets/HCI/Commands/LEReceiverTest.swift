/// LE Receiver Test [v1]: counts test packets on one channel (Core 5.4, Vol 4, Part E, 7.8.28).
public struct LEReceiverTest: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x001D)
    public static let answer = CommandAnswer.complete

    /// 0 to 39 for 2402 to 2480 MHz.
    public var channel: UInt8

    public init(channel: UInt8) {
        self.channel = channel
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channel = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(channel)
    }
}
