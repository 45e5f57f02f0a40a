/// LE Remote Connection Parameter Request: the peer wants other parameters, and the host shall agree or refuse (Core
/// 5.4, Vol 4, Part E, 7.7.65.6).
public struct LERemoteConnectionParameterRequest: LEMetaEvent {
    public static let subevent = LESubeventCode.remoteConnectionParameterRequest

    public var connectionHandle: ConnectionHandle
    /// The shortest connection interval that the peer wishes.
    public var minimumInterval: ConnectionInterval
    /// The longest connection interval that the peer wishes.
    public var maximumInterval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var latency: UInt16
    /// How long the link may be silent before it counts as lost, as the peer wishes.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        connectionHandle: ConnectionHandle, minimumInterval: ConnectionInterval, maximumInterval: ConnectionInterval,
        latency: UInt16, supervisionTimeout: SupervisionTimeout
    ) {
        self.connectionHandle = connectionHandle
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        minimumInterval = ConnectionInterval(rawValue: try reader.read())
        maximumInterval = ConnectionInterval(rawValue: try reader.read())
        latency = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(minimumInterval.rawValue)
        packet.write(maximumInterval.rawValue)
        packet.write(latency)
        packet.write(supervisionTimeout.rawValue)
    }
}
