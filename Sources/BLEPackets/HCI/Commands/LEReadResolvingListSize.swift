/// LE Read Resolving List Size: how many devices the list can hold at this moment (Core 5.4, Vol 4, Part E, 7.8.41).
public struct LEReadResolvingListSize: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002A)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Entries that the list can hold in all.
        public var size: UInt8 = 0

        public init(status: HCIStatus = .success, size: UInt8 = 0) {
            self.status = status
            self.size = size
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            size = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(size)
        }
    }
}
