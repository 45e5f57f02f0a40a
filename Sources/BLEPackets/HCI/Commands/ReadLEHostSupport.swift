/// Read LE Host Support: whether a dual-mode controller was told that the host can do LE (Core 5.4, Vol 4, Part E,
/// 7.3.78).
public struct ReadLEHostSupport: HCICommand {
    public static let opcode = HCIOpcode(group: .controllerAndBaseband, command: 0x006C)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var isSupported: Bool = false
        /// Without meaning since Core 4.1; zero.
        public var simultaneous: UInt8 = 0

        public init(status: HCIStatus = .success, isSupported: Bool = false, simultaneous: UInt8 = 0) {
            self.status = status
            self.isSupported = isSupported
            self.simultaneous = simultaneous
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            isSupported = try reader.readBoolean()
            simultaneous = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(boolean: isSupported)
            packet.write(simultaneous)
        }
    }
}
