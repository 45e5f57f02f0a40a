/// LE Subrate Change: a link uses another share of its connection events (Core 5.4, Vol 4, Part E, 7.7.65.35).
public struct LESubrateChange: LEMetaEvent {
    public static let subevent = LESubeventCode.subrateChange

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// One event in so many is used, 1 to 500.
    public var subrateFactor: UInt16
    /// Used events that the peripheral may skip.
    public var latency: UInt16
    /// Events that are used after one that carried data.
    public var continuationNumber: UInt16
    /// How long the link may be silent from now on before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, subrateFactor: UInt16, latency: UInt16,
        continuationNumber: UInt16, supervisionTimeout: SupervisionTimeout
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.subrateFactor = subrateFactor
        self.latency = latency
        self.continuationNumber = continuationNumber
        self.supervisionTimeout = supervisionTimeout
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        subrateFactor = try reader.read()
        latency = try reader.read()
        continuationNumber = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(subrateFactor)
        packet.write(latency)
        packet.write(continuationNumber)
        packet.write(supervisionTimeout.rawValue)
    }
}
