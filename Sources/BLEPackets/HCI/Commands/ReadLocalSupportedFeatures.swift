/// Read Local Supported Features: the features of BR/EDR, among them whether it is there at all (Core 5.4, Vol 4, Part
/// E, 7.4.3).
public struct ReadLocalSupportedFeatures: HCICommand {
    public static let opcode = HCIOpcode(group: .informationalParameters, command: 0x0003)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// The LMP feature bits (Core 5.4, Vol 2, Part C, 3.3); bit 38 is LE, bit 37 is no BR/EDR.
        public var features: UInt64 = 0

        public init(status: HCIStatus = .success, features: UInt64 = 0) {
            self.status = status
            self.features = features
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            features = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(features)
        }
    }
}
