/// LE Add Device To Resolving List: lets the controller resolve a peer's private addresses and make our own (Core 5.4,
/// Vol 4, Part E, 7.8.38).
///
/// Disallowed while address resolution is enabled and advertising, scanning or initiating runs.
public struct LEAddDeviceToResolvingList: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0027)
    public static let answer = CommandAnswer.complete

    /// The address that names the peer in the resolving list: public, or random static.
    public var peerIdentityAddress: DeviceAddress
    /// All zero when the peer has none.
    public var peerIdentityResolvingKey: Key128
    /// All zero when we shall show our identity to this peer.
    public var localIdentityResolvingKey: Key128

    public init(
        peerIdentityAddress: DeviceAddress, peerIdentityResolvingKey: Key128, localIdentityResolvingKey: Key128
    ) {
        self.peerIdentityAddress = peerIdentityAddress
        self.peerIdentityResolvingKey = peerIdentityResolvingKey
        self.localIdentityResolvingKey = localIdentityResolvingKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        peerIdentityAddress = try DeviceAddress(decodingWithKind: &reader)
        peerIdentityResolvingKey = Key128(rawValue: try reader.read())
        localIdentityResolvingKey = Key128(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        peerIdentityAddress.encodeWithKind(into: &packet)
        packet.write(peerIdentityResolvingKey.rawValue)
        packet.write(localIdentityResolvingKey.rawValue)
    }
}
