/// Host Buffer Size: the buffers that the host has for data from the controller (Core 5.4, Vol 4, Part E, 7.3.39).
public struct HostBufferSize: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0033)
    public static let answer = CommandAnswer.complete

    /// Octets of data that one ACL packet to the host may hold.
    public var aclDataPacketLength: UInt16
    /// Octets of data that one SCO packet to the host may hold.
    public var synchronousDataPacketLength: UInt8
    /// ACL packets that the host can hold at once.
    public var totalACLDataPackets: UInt16
    /// SCO packets that the host can hold at once.
    public var totalSynchronousDataPackets: UInt16

    public init(
        aclDataPacketLength: UInt16, synchronousDataPacketLength: UInt8 = 0, totalACLDataPackets: UInt16,
        totalSynchronousDataPackets: UInt16 = 0
    ) {
        self.aclDataPacketLength = aclDataPacketLength
        self.synchronousDataPacketLength = synchronousDataPacketLength
        self.totalACLDataPackets = totalACLDataPackets
        self.totalSynchronousDataPackets = totalSynchronousDataPackets
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        aclDataPacketLength = try reader.read()
        synchronousDataPacketLength = try reader.read()
        totalACLDataPackets = try reader.read()
        totalSynchronousDataPackets = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(aclDataPacketLength)
        packet.write(synchronousDataPacketLength)
        packet.write(totalACLDataPackets)
        packet.write(totalSynchronousDataPackets)
    }
}
