/// LE Read Peer Resolvable Address: the private address that a peer of the resolving list uses now (Core 5.4, Vol 4,
/// Part E, 7.8.42).
public struct LEReadPeerResolvableAddress: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002B)
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

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// The private address that the peer showed last.
        public var address = DeviceAddress(value: 0, kind: .random)

        public init(status: HCIStatus = .success, address: DeviceAddress = DeviceAddress(value: 0, kind: .random)) {
            self.status = status
            self.address = address
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            address = try DeviceAddress(decoding: &reader, kind: .random)
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            address.encodeOctets(into: &packet)
        }
    }
}
