/// LE Read Local Resolvable Address: the private address that we show to a peer of the resolving list now (Core 5.4,
/// Vol 4, Part E, 7.8.43).
public struct LEReadLocalResolvableAddress: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002C)
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
        /// The private address that this device shows to the peer at the moment.
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
