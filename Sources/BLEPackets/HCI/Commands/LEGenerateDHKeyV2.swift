/// LE Generate DHKey [v2]: as the first version, with a choice of the private key (Core 5.4, Vol 4, Part E, 7.8.37).
public struct LEGenerateDHKeyV2: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x005E)
    public static let answer = CommandAnswer.status

    /// The peer's public key; not every controller checks that it is a point of the curve.
    public var publicKey: P256PublicKey
    /// Whether the private key is the one that the specification publishes.
    public var usesDebugKey: Bool

    public init(publicKey: P256PublicKey, usesDebugKey: Bool = false) {
        self.publicKey = publicKey
        self.usesDebugKey = usesDebugKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        publicKey = try P256PublicKey(decoding: &reader)
        usesDebugKey = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        publicKey.encode(into: &packet)
        packet.write(boolean: usesDebugKey)
    }
}
