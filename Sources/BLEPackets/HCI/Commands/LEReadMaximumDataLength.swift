/// LE Read Maximum Data Length: how long packets the controller can send and receive (Core 5.4, Vol 4, Part E, 7.8.46).
public struct LEReadMaximumDataLength: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x002F)
    public static let answer = CommandAnswer.complete

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// 27 to 251.
        public var maximumTransmitOctets: UInt16 = 0
        /// Microseconds, 328 to 17,040.
        public var maximumTransmitTime: UInt16 = 0
        /// 27 to 251.
        public var maximumReceiveOctets: UInt16 = 0
        /// Microseconds, 328 to 17,040.
        public var maximumReceiveTime: UInt16 = 0

        public init(
            status: HCIStatus = .success, maximumTransmitOctets: UInt16 = 0, maximumTransmitTime: UInt16 = 0,
            maximumReceiveOctets: UInt16 = 0, maximumReceiveTime: UInt16 = 0
        ) {
            self.status = status
            self.maximumTransmitOctets = maximumTransmitOctets
            self.maximumTransmitTime = maximumTransmitTime
            self.maximumReceiveOctets = maximumReceiveOctets
            self.maximumReceiveTime = maximumReceiveTime
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            maximumTransmitOctets = try reader.read()
            maximumTransmitTime = try reader.read()
            maximumReceiveOctets = try reader.read()
            maximumReceiveTime = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(maximumTransmitOctets)
            packet.write(maximumTransmitTime)
            packet.write(maximumReceiveOctets)
            packet.write(maximumReceiveTime)
        }
    }
}
