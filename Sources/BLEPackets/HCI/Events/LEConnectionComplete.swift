/// LE Connection Complete: a link stands, or the attempt failed (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct LEConnectionComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.connectionComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// What this device is on the link.
    public var role: ConnectionRole
    /// The device at the other end of the link.
    public var peerAddress: DeviceAddress
    /// The connection interval from now on.
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var latency: UInt16
    /// How long the link may be silent from now on before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout
    /// Only on a peripheral.
    public var centralClockAccuracy: ClockAccuracy

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, role: ConnectionRole,
        peerAddress: DeviceAddress, interval: ConnectionInterval, latency: UInt16,
        supervisionTimeout: SupervisionTimeout, centralClockAccuracy: ClockAccuracy = ClockAccuracy(rawValue: 0)
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.role = role
        self.peerAddress = peerAddress
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.centralClockAccuracy = centralClockAccuracy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        role = ConnectionRole(rawValue: try reader.read())
        peerAddress = try DeviceAddress(decodingWithKind: &reader, status: status)
        interval = ConnectionInterval(rawValue: try reader.read())
        latency = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
        centralClockAccuracy = ClockAccuracy(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(role.rawValue)
        peerAddress.encodeWithKind(into: &packet)
        packet.write(interval.rawValue)
        packet.write(latency)
        packet.write(supervisionTimeout.rawValue)
        packet.write(centralClockAccuracy.rawValue)
    }
}
