/// LE Set Scan Parameters: how legacy scanning shall run; disallowed while it does (Core 5.4, Vol 4, Part E, 7.8.10).
public struct LESetScanParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x000B)
    public static let answer = CommandAnswer.complete

    public var type: ScanType
    /// From the start of one scan to the start of the next.
    public var interval: ScanInterval
    /// How long of each interval the radio listens; not above the interval.
    public var window: ScanInterval
    public var ownAddressType: OwnAddressType
    public var filterPolicy: ScanningFilterPolicy

    public init(
        type: ScanType = .passive, interval: ScanInterval = ScanInterval(rawValue: 0x0010),
        window: ScanInterval = ScanInterval(rawValue: 0x0010), ownAddressType: OwnAddressType = .public,
        filterPolicy: ScanningFilterPolicy = .all
    ) {
        self.type = type
        self.interval = interval
        self.window = window
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        type = ScanType(rawValue: try reader.read())
        interval = ScanInterval(rawValue: try reader.read())
        window = ScanInterval(rawValue: try reader.read())
        ownAddressType = try OwnAddressType(decoding: &reader)
        filterPolicy = ScanningFilterPolicy(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(type.rawValue)
        packet.write(interval.rawValue)
        packet.write(window.rawValue)
        packet.write(ownAddressType.rawValue)
        packet.write(filterPolicy.rawValue)
    }
}
