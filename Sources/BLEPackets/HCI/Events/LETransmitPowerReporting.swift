/// LE Transmit Power Reporting: with which power one side of a link sends (Core 5.4, Vol 4, Part E, 7.7.65.33).
public struct LETransmitPowerReporting: LEMetaEvent {
    public static let subevent = LESubeventCode.transmitPowerReporting

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// 0 our power changed, 1 the peer's changed, 2 the answer to `LEReadRemoteTransmitPowerLevel`.
    public var reason: UInt8
    /// As `PHY`, but 3 is LE Coded with S = 8 and 4 with S = 2.
    public var phy: UInt8
    /// dBm; 126 when the PHY is not managed, 127 when it is not known.
    public var transmitPower: Int8
    /// Bit 0 at the least power, bit 1 at the greatest.
    public var limits: UInt8
    /// dB; 127 when it is not known.
    public var delta: Int8

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, reason: UInt8, phy: UInt8,
        transmitPower: Int8, limits: UInt8, delta: Int8
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.reason = reason
        self.phy = phy
        self.transmitPower = transmitPower
        self.limits = limits
        self.delta = delta
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        reason = try reader.read()
        phy = try reader.read()
        transmitPower = try reader.read()
        limits = try reader.read()
        delta = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(reason)
        packet.write(phy)
        packet.write(transmitPower)
        packet.write(limits)
        packet.write(delta)
    }
}
