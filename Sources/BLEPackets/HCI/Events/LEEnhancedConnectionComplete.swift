/// LE Enhanced Connection Complete [v1]: a link stands, or the attempt failed (Core 5.4, Vol 4, Part E, 7.7.65.10).
public struct LEEnhancedConnectionComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.enhancedConnectionComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// What this device is on the link.
    public var role: ConnectionRole
    /// An identity where the controller resolved the peer's address.
    public var peerAddress: DeviceAddress
    /// What the controller used for us; `nil` when it made no private address.
    public var localResolvableAddress: DeviceAddress?
    /// What the peer used; `nil` when that was no private address that was resolved.
    public var peerResolvableAddress: DeviceAddress?
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
        peerAddress: DeviceAddress, localResolvableAddress: DeviceAddress? = nil,
        peerResolvableAddress: DeviceAddress? = nil, interval: ConnectionInterval, latency: UInt16,
        supervisionTimeout: SupervisionTimeout, centralClockAccuracy: ClockAccuracy = ClockAccuracy(rawValue: 0)
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.role = role
        self.peerAddress = peerAddress
        self.localResolvableAddress = localResolvableAddress
        self.peerResolvableAddress = peerResolvableAddress
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
        localResolvableAddress = try .random(decodingUnlessZero: &reader)
        peerResolvableAddress = try .random(decodingUnlessZero: &reader)
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
        (localResolvableAddress ?? .nobody).encodeOctets(into: &packet)
        (peerResolvableAddress ?? .nobody).encodeOctets(into: &packet)
        packet.write(interval.rawValue)
        packet.write(latency)
        packet.write(supervisionTimeout.rawValue)
        packet.write(centralClockAccuracy.rawValue)
    }
}
