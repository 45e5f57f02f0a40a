/// LE Channel Selection Algorithm: how a new link chooses its channels (Core 5.4, Vol 4, Part E, 7.7.65.20).
public struct LEChannelSelectionAlgorithm: LEMetaEvent {
    public static let subevent = LESubeventCode.channelSelectionAlgorithm

    public var connectionHandle: ConnectionHandle
    /// Algorithm 2 where both sides have it.
    public var algorithm: ChannelSelectionAlgorithm

    public init(connectionHandle: ConnectionHandle, algorithm: ChannelSelectionAlgorithm) {
        self.connectionHandle = connectionHandle
        self.algorithm = algorithm
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        algorithm = ChannelSelectionAlgorithm(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(algorithm.rawValue)
    }
}
