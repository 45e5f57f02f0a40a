/// LE Write Suggested Default Data Length: suggests how long packets may be on links to come (Core 5.4, Vol 4, Part E,
/// 7.8.35).
public struct LEWriteSuggestedDefaultDataLength: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0024)
    public static let answer = CommandAnswer.complete

    /// 27 to 251.
    public var maximumTransmitOctets: UInt16
    /// Microseconds, 328 to 17,040.
    public var maximumTransmitTime: UInt16

    public init(maximumTransmitOctets: UInt16 = 251, maximumTransmitTime: UInt16 = 2120) {
        self.maximumTransmitOctets = maximumTransmitOctets
        self.maximumTransmitTime = maximumTransmitTime
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        maximumTransmitOctets = try reader.read()
        maximumTransmitTime = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(maximumTransmitOctets)
        packet.write(maximumTransmitTime)
    }
}
