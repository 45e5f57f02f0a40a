extension SMPPacket {
    /// Octets of the longest PDU, its opcode included.
    public static let maximumByteCount = 65

    /// The whole PDU.
    public func encoded() -> [UInt8] {
        var packet = PacketWriter(reservingCapacity: 17)
        encode(into: &packet)
        return packet.bytes
    }
}

extension SMPPacket: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pairingFailed(let reason): "\(opcode.description): \(reason.description)"
        case .identityAddressInformation(let address): "\(opcode.description): \(address.description)"
        default: opcode.description
        }
    }
}

#if !hasFeature(Embedded)
extension SMPPacket: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
