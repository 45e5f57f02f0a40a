/// LE Read Local Supported Features: what the controller's link layer can do (Core 5.4, Vol 4, Part E, 7.8.3).
public struct LEReadLocalSupportedFeatures: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0003)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// What the controller can do on LE.
        public var features = LEFeatures(rawValue: 0)

        public init(status: HCIStatus = .success, features: LEFeatures = LEFeatures(rawValue: 0)) {
            self.status = status
            self.features = features
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            features = LEFeatures(rawValue: try reader.read())
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(features.rawValue)
        }
    }
}
