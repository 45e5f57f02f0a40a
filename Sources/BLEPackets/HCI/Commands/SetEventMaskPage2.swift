/// Set Event Mask Page 2: which of the later events the controller may send (Core 5.4, Vol 4, Part E, 7.3.69).
public struct SetEventMaskPage2: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0063)
    public static let answer = CommandAnswer.complete

    public var mask: EventMaskPage2

    public init(mask: EventMaskPage2) {
        self.mask = mask
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        mask = EventMaskPage2(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(mask.rawValue)
    }
}
