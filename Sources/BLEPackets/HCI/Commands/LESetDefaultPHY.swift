/// LE Set Default PHY: the wish for links to come (Core 5.4, Vol 4, Part E, 7.8.48).
public struct LESetDefaultPHY: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0031)
    public static let answer = CommandAnswer.complete

    public var preferences: PHYPreferences

    public init(preferences: PHYPreferences) {
        self.preferences = preferences
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        preferences = try PHYPreferences(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        preferences.encode(into: &packet)
    }
}
