/// LE Test End: ends a test of the radio (Core 5.4, Vol 4, Part E, 7.8.30).
public struct LETestEnd: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x001F)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Zero after a transmitter test.
        public var receivedPackets: UInt16 = 0

        public init(status: HCIStatus = .success, receivedPackets: UInt16 = 0) {
            self.status = status
            self.receivedPackets = receivedPackets
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            receivedPackets = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(receivedPackets)
        }
    }
}
