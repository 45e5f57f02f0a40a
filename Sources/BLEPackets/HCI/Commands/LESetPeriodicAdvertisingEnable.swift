/// LE Set Periodic Advertising Enable: starts and stops the periodic train of an advertising set (Core 5.4, Vol 4, Part
/// E, 7.8.63).
public struct LESetPeriodicAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0040)
    public static let answer = CommandAnswer.complete

    public var enable: PeriodicAdvertisingEnable
    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8

    public init(enable: PeriodicAdvertisingEnable, advertisingHandle: UInt8) {
        self.enable = enable
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        enable = PeriodicAdvertisingEnable(rawValue: try reader.read())
        advertisingHandle = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(enable.rawValue)
        packet.write(advertisingHandle)
    }
}
