/// Host Number Of Completed Packets: the host has freed buffers (Core 5.4, Vol 4, Part E, 7.3.40).
///
/// It uses no command credit and can be sent at any time; the controller answers only if there is an error.
public struct HostNumberOfCompletedPackets: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0035)
    public static let answer = CommandAnswer.complete

    /// At most 63.
    public var links: [CompletedPackets]

    public init(links: [CompletedPackets]) { self.links = links }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        links = try CompletedPackets.list(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) { CompletedPackets.encode(links, into: &packet) }
}
