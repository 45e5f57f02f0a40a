/// LE Set Host Channel Classification: which channels are known to be bad (Core 5.4, Vol 4, Part E, 7.8.19).
public struct LESetHostChannelClassification: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0014)
    public static let answer = CommandAnswer.complete

    /// A bit is zero for a channel that is known to be bad, one for the others; at least one must be set.
    public var channelMap: ChannelMap

    public init(channelMap: ChannelMap) {
        self.channelMap = channelMap
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channelMap = try ChannelMap(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        channelMap.encode(into: &packet)
    }
}
