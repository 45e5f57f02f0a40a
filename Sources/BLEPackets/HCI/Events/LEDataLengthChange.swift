/// LE Data Length Change: how long the packets of a link may be from now on (Core 5.4, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: LEMetaEvent {
    public static let subevent = LESubeventCode.dataLengthChange

    public var connectionHandle: ConnectionHandle
    /// 27 to 251.
    public var maximumTransmitOctets: UInt16
    /// Microseconds, 328 to 17,040.
    public var maximumTransmitTime: UInt16
    /// 27 to 251.
    public var maximumReceiveOctets: UInt16
    /// Microseconds, 328 to 17,040.
    public var maximumReceiveTime: UInt16

    public init(
        connectionHandle: ConnectionHandle, maximumTransmitOctets: UInt16, maximumTransmitTime: UInt16,
        maximumReceiveOctets: UInt16, maximumReceiveTime: UInt16
    ) {
        self.connectionHandle = connectionHandle
        self.maximumTransmitOctets = maximumTransmitOctets
        self.maximumTransmitTime = maximumTransmitTime
        self.maximumReceiveOctets = maximumReceiveOctets
        self.maximumReceiveTime = maximumReceiveTime
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        maximumTransmitOctets = try reader.read()
        maximumTransmitTime = try reader.read()
        maximumReceiveOctets = try reader.read()
        maximumReceiveTime = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(maximumTransmitOctets)
        packet.write(maximumTransmitTime)
        packet.write(maximumReceiveOctets)
        packet.write(maximumReceiveTime)
    }
}
