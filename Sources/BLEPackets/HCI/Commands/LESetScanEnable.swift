/// LE Set Scan Enable: starts and stops legacy scanning (Core 5.4, Vol 4, Part E, 7.8.11).
public struct LESetScanEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x000C)
    public static let answer = CommandAnswer.complete

    public var isEnabled: Bool
    /// Whether the controller tries to report each advertiser once only.
    public var filtersDuplicates: Bool

    public init(isEnabled: Bool, filtersDuplicates: Bool = false) {
        self.isEnabled = isEnabled
        self.filtersDuplicates = filtersDuplicates
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        isEnabled = try reader.readBoolean()
        filtersDuplicates = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(boolean: isEnabled)
        packet.write(boolean: filtersDuplicates)
    }
}
