/// Set Event Mask: which events the controller may send (Core 5.4, Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0001)
    public static let answer = CommandAnswer.complete

    public var mask: EventMask

    public init(mask: EventMask) {
        self.mask = mask
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        mask = EventMask(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(mask.rawValue)
    }
}
