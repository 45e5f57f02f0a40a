/// LE Set Address Resolution Enable: whether the controller uses the resolving list (Core 5.4, Vol 4, Part E, 7.8.44).
public struct LESetAddressResolutionEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002D)
    public static let answer = CommandAnswer.complete

    public var isEnabled: Bool

    public init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        isEnabled = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(boolean: isEnabled)
    }
}
