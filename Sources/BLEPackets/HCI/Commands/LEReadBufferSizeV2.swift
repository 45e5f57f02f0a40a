/// LE Read Buffer Size [v2]: the buffers for LE data and for isochronous data (Core 5.4, Vol 4, Part E, 7.8.2).
///
/// Zero in a field of ACL says that LE shares the buffers of `ReadBufferSize`.
public struct LEReadBufferSizeV2: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0060)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Octets of data that one ACL packet to the controller may hold.
        public var aclDataPacketLength: UInt16 = 0
        /// ACL packets that the controller can hold at once.
        public var totalACLDataPackets: UInt8 = 0
        /// Octets that one ISO packet to the controller may hold; zero without isochronous channels.
        public var isoDataPacketLength: UInt16 = 0
        /// ISO packets that the controller can hold at once.
        public var totalISODataPackets: UInt8 = 0

        public init(
            status: HCIStatus = .success, aclDataPacketLength: UInt16 = 0, totalACLDataPackets: UInt8 = 0,
            isoDataPacketLength: UInt16 = 0, totalISODataPackets: UInt8 = 0
        ) {
            self.status = status
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.isoDataPacketLength = isoDataPacketLength
            self.totalISODataPackets = totalISODataPackets
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            aclDataPacketLength = try reader.read()
            totalACLDataPackets = try reader.read()
            isoDataPacketLength = try reader.read()
            totalISODataPackets = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(aclDataPacketLength)
            packet.write(totalACLDataPackets)
            packet.write(isoDataPacketLength)
            packet.write(totalISODataPackets)
        }
    }
}
