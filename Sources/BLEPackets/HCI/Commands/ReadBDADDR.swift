/// Read BD_ADDR: the controller's public address; all zero where it has none (Core 5.4, Vol 4, Part E, 7.4.6).
public struct ReadBDADDR: HCICommand {
    public static let opcode = HCIOpcode(group: .informationalParameters, command: 0x0009)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var address: DeviceAddress = .nobody

        public init(status: HCIStatus = .success, address: DeviceAddress = .nobody) {
            self.status = status
            self.address = address
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            address = try DeviceAddress(decoding: &reader, kind: .public)
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            address.encodeOctets(into: &packet)
        }
    }
}
