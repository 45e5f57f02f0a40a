/// LE Write RF Path Compensation: what lies between radio and antenna (Core 5.4, Vol 4, Part E, 7.8.76).
public struct LEWriteRFPathCompensation: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x004D)
    public static let answer = CommandAnswer.complete

    /// Units of 0.1 dB, -1280 to 1280.
    public var transmit: Int16
    /// Units of 0.1 dB, -1280 to 1280.
    public var receive: Int16

    public init(transmit: Int16, receive: Int16) {
        self.transmit = transmit
        self.receive = receive
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        transmit = try reader.read()
        receive = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(transmit)
        packet.write(receive)
    }
}
