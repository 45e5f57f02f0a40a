/// LE Set Resolvable Private Address Timeout: how often the controller changes the private addresses that it makes
/// (Core 5.4, Vol 4, Part E, 7.8.45).
public struct LESetResolvablePrivateAddressTimeout: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002E)
    public static let answer = CommandAnswer.complete

    /// Seconds, 1 to 3600.
    public var timeout: UInt16

    public init(timeout: UInt16 = 900) {
        self.timeout = timeout
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        timeout = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(timeout)
    }
}
