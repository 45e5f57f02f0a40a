/// LE Set Host Feature [v1]: says that the host can do something for which the link layer needs it (Core 5.4, Vol 4,
/// Part E, 7.8.115).
public struct LESetHostFeature: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0074)
    public static let answer = CommandAnswer.complete

    /// The number of a bit of `LEFeatures` that is under the host's control.
    public var bitNumber: UInt8
    /// Whether the host can do it.
    public var isSupported: Bool

    public init(bitNumber: UInt8, isSupported: Bool) {
        self.bitNumber = bitNumber
        self.isSupported = isSupported
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        bitNumber = try reader.read()
        isSupported = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(bitNumber)
        packet.write(boolean: isSupported)
    }
}
