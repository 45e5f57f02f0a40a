/// LE Set Advertising Enable: starts and stops legacy advertising (Core 5.4, Vol 4, Part E, 7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x000A)
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
