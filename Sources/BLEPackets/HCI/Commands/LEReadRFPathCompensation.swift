/// LE Read RF Path Compensation: what lies between radio and antenna (Core 5.4, Vol 4, Part E, 7.8.75).
public struct LEReadRFPathCompensation: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x004C)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Units of 0.1 dB.
        public var transmit: Int16 = 0
        /// Units of 0.1 dB.
        public var receive: Int16 = 0

        public init(status: HCIStatus = .success, transmit: Int16 = 0, receive: Int16 = 0) {
            self.status = status
            self.transmit = transmit
            self.receive = receive
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            transmit = try reader.read()
            receive = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(transmit)
            packet.write(receive)
        }
    }
}
