/// LE Read Maximum Advertising Data Length: how much an advertising set can say (Core 5.4, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003A)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Octets, 31 to 1650.
        public var length: UInt16 = 0

        public init(status: HCIStatus = .success, length: UInt16 = 0) {
            self.status = status
            self.length = length
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            length = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(length)
        }
    }
}
