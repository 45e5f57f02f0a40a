/// Write LE Host Support: tells a dual-mode controller that the host can do LE (Core 5.4, Vol 4, Part E, 7.3.79).
public struct WriteLEHostSupport: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x006D)
    public static let answer = CommandAnswer.complete

    public var isSupported: Bool
    /// Without meaning since Core 4.1; zero.
    public var simultaneous: UInt8

    public init(isSupported: Bool, simultaneous: UInt8 = 0) {
        self.isSupported = isSupported
        self.simultaneous = simultaneous
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        isSupported = try reader.readBoolean()
        simultaneous = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(boolean: isSupported)
        packet.write(simultaneous)
    }
}
