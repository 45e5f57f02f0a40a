/// LE Modify Sleep Clock Accuracy: for tests (Core 5.4, Vol 4, Part E, 7.8.94).
public struct LEModifySleepClockAccuracy: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x005F)
    public static let answer = CommandAnswer.complete

    /// 0 more exact, 1 less exact.
    public var action: UInt8

    public init(action: UInt8) {
        self.action = action
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        action = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(action)
    }
}
