/// Read Buffer Size: the buffers that BR/EDR, and without buffers of its own LE, sends through (Core 5.4, Vol 4, Part
/// E, 7.4.5).
public struct ReadBufferSize: HCICommand {
    public static let opcode = HCIOpcode(group: .informationalParameters, command: 0x0005)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// Octets of data that one ACL packet to the controller may hold.
        public var aclDataPacketLength: UInt16 = 0
        /// Octets of data that one SCO packet to the controller may hold.
        public var synchronousDataPacketLength: UInt8 = 0
        /// ACL packets that the controller can hold at once.
        public var totalACLDataPackets: UInt16 = 0
        /// SCO packets that the controller can hold at once.
        public var totalSynchronousDataPackets: UInt16 = 0

        public init(
            status: HCIStatus = .success, aclDataPacketLength: UInt16 = 0, synchronousDataPacketLength: UInt8 = 0,
            totalACLDataPackets: UInt16 = 0, totalSynchronousDataPackets: UInt16 = 0
        ) {
            self.status = status
            self.aclDataPacketLength = aclDataPacketLength
            self.synchronousDataPacketLength = synchronousDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.totalSynchronousDataPackets = totalSynchronousDataPackets
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            aclDataPacketLength = try reader.read()
            synchronousDataPacketLength = try reader.read()
            totalACLDataPackets = try reader.read()
            totalSynchronousDataPackets = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(aclDataPacketLength)
            packet.write(synchronousDataPacketLength)
            packet.write(totalACLDataPackets)
            packet.write(totalSynchronousDataPackets)
        }
    }
}
