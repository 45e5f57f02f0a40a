/// LE Request Peer SCA Complete: how exact the peer's sleep clock is (Core 5.4, Vol 4, Part E, 7.7.65.31).
public struct LERequestPeerSCAComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.requestPeerSCAComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    public var peerClockAccuracy: ClockAccuracy

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, peerClockAccuracy: ClockAccuracy) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.peerClockAccuracy = peerClockAccuracy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        peerClockAccuracy = ClockAccuracy(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(peerClockAccuracy.rawValue)
    }
}
