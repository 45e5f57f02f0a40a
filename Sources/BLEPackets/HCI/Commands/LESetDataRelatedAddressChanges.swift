/// LE Set Data Related Address Changes: whether new data in an advertising set brings a new private address (Core 5.4,
/// Vol 4, Part E, 7.8.122).
public struct LESetDataRelatedAddressChanges: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x007C)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    public var reasons: DataRelatedAddressChanges

    public init(advertisingHandle: UInt8, reasons: DataRelatedAddressChanges) {
        self.advertisingHandle = advertisingHandle
        self.reasons = reasons
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        reasons = DataRelatedAddressChanges(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        packet.write(reasons.rawValue)
    }
}
