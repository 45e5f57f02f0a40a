/// LE Set Event Mask: which LE subevents the controller may send (Core 5.4, Vol 4, Part E, 7.8.1).
///
/// `EventMask.leMeta` must be set, too.
public struct LESetEventMask: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0001)
    public static let answer = CommandAnswer.complete

    public var mask: LEEventMask

    public init(mask: LEEventMask) {
        self.mask = mask
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        mask = LEEventMask(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(mask.rawValue)
    }
}
