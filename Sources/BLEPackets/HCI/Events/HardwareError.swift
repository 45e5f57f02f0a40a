/// Hardware Error: the controller failed and must be reset (Core 5.4, Vol 4, Part E, 7.7.16).
public struct HardwareError: HCIEvent {
    public static let code = HCIEventCode.hardwareError

    /// The maker's own number.
    public var hardwareCode: UInt8

    public init(hardwareCode: UInt8) {
        self.hardwareCode = hardwareCode
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        hardwareCode = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(hardwareCode)
    }
}
