/// LE Read Local P-256 Public Key: the controller makes a new pair of keys (Core 5.4, Vol 4, Part E, 7.8.36).
///
/// Command Status comes at once, `LEReadLocalP256PublicKeyComplete` when the pair is made.
public struct LEReadLocalP256PublicKey: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0025)
    public static let answer = CommandAnswer.status

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
