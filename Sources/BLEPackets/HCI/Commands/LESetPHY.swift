/// LE Set PHY: the wish for one link (Core 5.4, Vol 4, Part E, 7.8.49).
///
/// Command Status comes at once, `LEPHYUpdateComplete` when the PHYs are settled, changed or not.
public struct LESetPHY: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0032)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle
    public var preferences: PHYPreferences
    public var options: PHYOptions

    public init(connectionHandle: ConnectionHandle, preferences: PHYPreferences, options: PHYOptions = .noPreference) {
        self.connectionHandle = connectionHandle
        self.preferences = preferences
        self.options = options
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        preferences = try PHYPreferences(decoding: &reader)
        options = PHYOptions(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        preferences.encode(into: &packet)
        packet.write(options.rawValue)
    }
}
