/// LE Read Local P-256 Public Key Complete: the public half of the new pair of keys (Core 5.4, Vol 4, Part E,
/// 7.7.65.8).
public struct LEReadLocalP256PublicKeyComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.readLocalP256PublicKeyComplete

    public var status: HCIStatus
    public var publicKey: P256PublicKey

    public init(status: HCIStatus = .success, publicKey: P256PublicKey) {
        self.status = status
        self.publicKey = publicKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        publicKey = try P256PublicKey(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        publicKey.encode(into: &packet)
    }
}
