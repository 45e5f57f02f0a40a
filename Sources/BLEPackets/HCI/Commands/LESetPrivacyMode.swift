/// LE Set Privacy Mode: whether a peer of the resolving list may show its identity address (Core 5.4, Vol 4, Part E,
/// 7.8.77).
public struct LESetPrivacyMode: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x004E)
    public static let answer = CommandAnswer.complete

    /// The address that names the peer in the resolving list: public, or random static.
    public var peerIdentityAddress: DeviceAddress
    public var mode: PrivacyMode

    public init(peerIdentityAddress: DeviceAddress, mode: PrivacyMode) {
        self.peerIdentityAddress = peerIdentityAddress
        self.mode = mode
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        peerIdentityAddress = try DeviceAddress(decodingWithKind: &reader)
        mode = PrivacyMode(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        peerIdentityAddress.encodeWithKind(into: &packet)
        packet.write(mode.rawValue)
    }
}
