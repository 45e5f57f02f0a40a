/// LE Read Transmit Power: what the radio can send with (Core 5.4, Vol 4, Part E, 7.8.74).
public struct LEReadTransmitPower: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x004B)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// dBm, -127 to 20.
        public var minimum: Int8 = 0
        /// dBm, -127 to 20.
        public var maximum: Int8 = 0

        public init(status: HCIStatus = .success, minimum: Int8 = 0, maximum: Int8 = 0) {
            self.status = status
            self.minimum = minimum
            self.maximum = maximum
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            minimum = try reader.read()
            maximum = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(minimum)
            packet.write(maximum)
        }
    }
}
