/// LE Set Extended Scan Enable: starts and stops extended scanning (Core 5.4, Vol 4, Part E, 7.8.65).
public struct LESetExtendedScanEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0042)
    public static let answer = CommandAnswer.complete

    public var isEnabled: Bool
    public var duplicateFilter: DuplicateFilter
    /// Length of the scan in units of 10 ms; zero is without end.
    public var duration: UInt16
    /// Time from the start of one scan to the next in units of 1.28 s; zero is one scan only.
    public var period: UInt16

    public init(isEnabled: Bool, duplicateFilter: DuplicateFilter = .off, duration: UInt16 = 0, period: UInt16 = 0) {
        self.isEnabled = isEnabled
        self.duplicateFilter = duplicateFilter
        self.duration = duration
        self.period = period
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        isEnabled = try reader.readBoolean()
        duplicateFilter = DuplicateFilter(rawValue: try reader.read())
        duration = try reader.read()
        period = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(boolean: isEnabled)
        packet.write(duplicateFilter.rawValue)
        packet.write(duration)
        packet.write(period)
    }
}
