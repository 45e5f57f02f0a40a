/// Host Number Of Completed Packets: the host has taken packets from its buffers (Core 5.4, Vol 4, Part E, 7.3.40).
///
/// It takes no command credit, may be sent at any time, and the controller answers nothing but an error.
public struct HostNumberOfCompletedPackets: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0035)
    public static let answer = CommandAnswer.complete

    /// At most 63, as many as a command can hold.
    public var links: [CompletedPackets]

    public init(links: [CompletedPackets]) { self.links = links }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        links = try CompletedPackets.list(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) { CompletedPackets.encode(links, into: &packet) }
}
