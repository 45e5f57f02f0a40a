/// LE Rand: eight random octets from the controller (Core 5.4, Vol 4, Part E, 7.8.23).
public struct LERand: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0018)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var randomNumber: UInt64 = 0

        public init(status: HCIStatus = .success, randomNumber: UInt64 = 0) {
            self.status = status
            self.randomNumber = randomNumber
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            randomNumber = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(randomNumber)
        }
    }
}
