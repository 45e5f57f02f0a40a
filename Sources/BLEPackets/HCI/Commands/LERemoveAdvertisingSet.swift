/// LE Remove Advertising Set: disallowed while the set runs (Core 5.4, Vol 4, Part E, 7.8.59).
public struct LERemoveAdvertisingSet: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003C)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8

    public init(advertisingHandle: UInt8) {
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
    }
}
