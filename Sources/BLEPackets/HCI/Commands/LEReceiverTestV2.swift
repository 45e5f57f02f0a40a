/// LE Receiver Test [v2]: counts test packets on one channel and PHY (Core 5.4, Vol 4, Part E, 7.8.28).
public struct LEReceiverTestV2: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0033)
    public static let answer = CommandAnswer.complete

    /// 0 to 39 for 2402 to 2480 MHz.
    public var channel: UInt8
    public var phy: PHY
    /// 0 standard, 1 stable.
    public var modulationIndex: UInt8

    public init(channel: UInt8, phy: PHY = .le1M, modulationIndex: UInt8 = 0) {
        self.channel = channel
        self.phy = phy
        self.modulationIndex = modulationIndex
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channel = try reader.read()
        phy = PHY(rawValue: try reader.read())
        modulationIndex = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(channel)
        packet.write(phy.rawValue)
        packet.write(modulationIndex)
    }
}
