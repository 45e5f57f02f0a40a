/// LE Read Supported States: which roles the controller can play at once (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEReadSupportedStates: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x001C)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// A bit for each combination, as the section lists them.
        public var states: UInt64 = 0

        public init(status: HCIStatus = .success, states: UInt64 = 0) {
            self.status = status
            self.states = states
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            states = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(states)
        }
    }
}
