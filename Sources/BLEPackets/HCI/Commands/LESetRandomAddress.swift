/// LE Set Random Address: the random address for legacy advertising, scanning and initiating (Core 5.4, Vol 4, Part E,
/// 7.8.4).
///
/// Disallowed while any of them runs.
public struct LESetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0005)
    public static let answer = CommandAnswer.complete

    /// Of kind random; the type is not sent.
    public var address: DeviceAddress

    public init(address: DeviceAddress) {
        self.address = address
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        address = try DeviceAddress(decoding: &reader, kind: .random)
    }

    public func encode(into packet: inout PacketWriter) {
        address.encodeOctets(into: &packet)
    }
}
