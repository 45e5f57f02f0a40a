/// LE Set Default Subrate: what peripherals may ask for on links to come (Core 5.4, Vol 4, Part E, 7.8.123).
public struct LESetDefaultSubrate: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x007D)
    public static let answer = CommandAnswer.complete

    public var parameters: SubrateParameters

    public init(parameters: SubrateParameters) {
        self.parameters = parameters
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        parameters = try SubrateParameters(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        parameters.encode(into: &packet)
    }
}
