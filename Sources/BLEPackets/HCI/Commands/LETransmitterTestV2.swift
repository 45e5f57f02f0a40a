/// LE Transmitter Test [v2]: sends test packets on one channel and PHY (Core 5.4, Vol 4, Part E, 7.8.29).
public struct LETransmitterTestV2: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0034)
    public static let answer = CommandAnswer.complete

    /// 0 to 39 for 2402 to 2480 MHz.
    public var channel: UInt8
    /// Octets of each packet.
    public var dataLength: UInt8
    /// The pattern, as `LETransmitterTest` has it.
    public var packetPayload: UInt8
    /// As `PHY`, but 3 is LE Coded with S = 8 and 4 with S = 2.
    public var phy: UInt8

    public init(channel: UInt8, dataLength: UInt8, packetPayload: UInt8, phy: UInt8 = 1) {
        self.channel = channel
        self.dataLength = dataLength
        self.packetPayload = packetPayload
        self.phy = phy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channel = try reader.read()
        dataLength = try reader.read()
        packetPayload = try reader.read()
        phy = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(channel)
        packet.write(dataLength)
        packet.write(packetPayload)
        packet.write(phy)
    }
}
