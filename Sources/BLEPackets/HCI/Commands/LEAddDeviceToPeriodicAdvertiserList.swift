/// LE Add Device To Periodic Advertiser List: disallowed while an attempt to follow a train is under way (Core 5.4, Vol
/// 4, Part E, 7.8.70).
public struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0047)
    public static let answer = CommandAnswer.complete

    public var advertiserAddress: DeviceAddress
    /// 0 to 15.
    public var advertisingSetIdentifier: UInt8

    public init(advertiserAddress: DeviceAddress, advertisingSetIdentifier: UInt8) {
        self.advertiserAddress = advertiserAddress
        self.advertisingSetIdentifier = advertisingSetIdentifier
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertiserAddress = try DeviceAddress(decodingWithKind: &reader)
        advertisingSetIdentifier = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        advertiserAddress.encodeWithKind(into: &packet)
        packet.write(advertisingSetIdentifier)
    }
}
