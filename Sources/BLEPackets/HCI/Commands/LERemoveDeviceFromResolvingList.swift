/// LE Remove Device From Resolving List (Core 5.4, Vol 4, Part E, 7.8.39).
public struct LERemoveDeviceFromResolvingList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0028)
    public static let answer = CommandAnswer.complete

    /// The address that names the peer in the resolving list: public, or random static.
    public var peerIdentityAddress: DeviceAddress

    public init(peerIdentityAddress: DeviceAddress) {
        self.peerIdentityAddress = peerIdentityAddress
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        peerIdentityAddress = try DeviceAddress(decodingWithKind: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        peerIdentityAddress.encodeWithKind(into: &packet)
    }
}
