/// LE Read Number Of Supported Advertising Sets: how many sets there can be at this moment (Core 5.4, Vol 4, Part E,
/// 7.8.58).
public struct LEReadNumberOfSupportedAdvertisingSets: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003B)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Sets that can exist at the same time; the number may change with what else the controller does.
        public var count: UInt8 = 0

        public init(status: HCIStatus = .success, count: UInt8 = 0) {
            self.status = status
            self.count = count
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            count = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(count)
        }
    }
}
