/// LE Generate DHKey [v1]: the secret that our private key shares with the peer's public key (Core 5.4, Vol 4, Part E,
/// 7.8.37).
///
/// Command Status comes at once, `LEGenerateDHKeyComplete` when the secret is there.
public struct LEGenerateDHKey: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0026)
    public static let answer = CommandAnswer.status

    /// The peer's public key; not every controller checks that it is a point of the curve.
    public var publicKey: P256PublicKey

    public init(publicKey: P256PublicKey) {
        self.publicKey = publicKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        publicKey = try P256PublicKey(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        publicKey.encode(into: &packet)
    }
}
