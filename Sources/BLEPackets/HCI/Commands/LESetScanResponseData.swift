/// LE Set Scan Response Data: what legacy advertising answers to a scan request (Core 5.4, Vol 4, Part E, 7.8.8).
public struct LESetScanResponseData: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0009)
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
