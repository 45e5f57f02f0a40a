/// LE Set Advertising Data: what legacy advertising says (Core 5.4, Vol 4, Part E, 7.8.7).
public struct LESetAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0008)
    public static let answer = CommandAnswer.complete

    /// At most 31 octets; what is beyond them is not sent.
    public var data: [UInt8]

    public init(data: [UInt8]) {
        self.data = data
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        data = try reader.readLegacyAdvertisingData()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(legacyAdvertisingData: data)
    }
}
