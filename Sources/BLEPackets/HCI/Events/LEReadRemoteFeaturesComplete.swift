/// LE Read Remote Features Complete: what the peer's link layer can do (Core 5.4, Vol 4, Part E, 7.7.65.4).
public struct LEReadRemoteFeaturesComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.readRemoteFeaturesComplete

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// What the peer says that it can do, or that both sides can do.
    public var features: LEFeatures

    public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle, features: LEFeatures) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.features = features
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        features = LEFeatures(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(features.rawValue)
    }
}
