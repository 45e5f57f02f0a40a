/// LE Path Loss Threshold: the loss of a link came into another zone (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct LEPathLossThreshold: LEMetaEvent {
    public static let subevent = LESubeventCode.pathLossThreshold

    public var connectionHandle: ConnectionHandle
    /// dB; 0xFF when it is not known.
    public var currentPathLoss: UInt8
    /// 0 low, 1 middle, 2 high.
    public var zoneEntered: UInt8

    public init(connectionHandle: ConnectionHandle, currentPathLoss: UInt8, zoneEntered: UInt8) {
        self.connectionHandle = connectionHandle
        self.currentPathLoss = currentPathLoss
        self.zoneEntered = zoneEntered
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        currentPathLoss = try reader.read()
        zoneEntered = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(currentPathLoss)
        packet.write(zoneEntered)
    }
}
