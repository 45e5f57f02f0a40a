/// LE Set Advertising Set Random Address: the random address of one advertising set (Core 5.4, Vol 4, Part E, 7.8.52).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0035)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    /// Of kind random; the type is not sent.
    public var address: DeviceAddress

    public init(advertisingHandle: UInt8, address: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.address = address
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        address = try DeviceAddress(decoding: &reader, kind: .random)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        address.encodeOctets(into: &packet)
    }
}
