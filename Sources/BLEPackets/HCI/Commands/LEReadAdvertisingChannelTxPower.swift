/// LE Read Advertising Physical Channel Tx Power: the power of legacy advertising (Core 5.4, Vol 4, Part E, 7.8.6).
public struct LEReadAdvertisingChannelTxPower: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0007)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// dBm, -127 to 20.
        public var transmitPower: Int8 = 0

        public init(status: HCIStatus = .success, transmitPower: Int8 = 0) {
            self.status = status
            self.transmitPower = transmitPower
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            transmitPower = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(transmitPower)
        }
    }
}
