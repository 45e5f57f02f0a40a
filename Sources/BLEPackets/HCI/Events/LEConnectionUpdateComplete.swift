/// LE Connection Update Complete: a link has new parameters, or kept the old ones (Core 5.4, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.connectionUpdateComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// The connection interval from now on.
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var latency: UInt16
    /// How long the link may be silent from now on before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, interval: ConnectionInterval, latency: UInt16,
        supervisionTimeout: SupervisionTimeout
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        interval = ConnectionInterval(rawValue: try reader.read())
        latency = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(interval.rawValue)
        packet.write(latency)
        packet.write(supervisionTimeout.rawValue)
    }
}
