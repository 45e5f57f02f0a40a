/// LE Transmitter Test [v1]: sends test packets on one channel (Core 5.4, Vol 4, Part E, 7.8.29).
public struct LETransmitterTest: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x001E)
    public static let answer = CommandAnswer.complete

    /// 0 to 39 for 2402 to 2480 MHz.
    public var channel: UInt8
    /// Octets of each packet.
    public var dataLength: UInt8
    /// The pattern: 0 PRBS9, 1 11110000, 2 10101010, 3 PRBS15, 4 ones, 5 zeros, 6 00001111, 7 01010101.
    public var packetPayload: UInt8

    public init(channel: UInt8, dataLength: UInt8, packetPayload: UInt8) {
        self.channel = channel
        self.dataLength = dataLength
        self.packetPayload = packetPayload
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channel = try reader.read()
        dataLength = try reader.read()
        packetPayload = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(channel)
        packet.write(dataLength)
        packet.write(packetPayload)
    }
}
