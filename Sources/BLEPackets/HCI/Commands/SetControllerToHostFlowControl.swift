/// Set Controller To Host Flow Control: whether the controller waits for `HostNumberOfCompletedPackets` (Core 5.4, Vol
/// 4, Part E, 7.3.38).
public struct SetControllerToHostFlowControl: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x0031)
    public static let answer = CommandAnswer.complete

    public var mode: FlowControlMode

    public init(mode: FlowControlMode) {
        self.mode = mode
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        mode = FlowControlMode(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(mode.rawValue)
    }
}
