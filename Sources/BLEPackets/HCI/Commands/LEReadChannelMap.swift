/// LE Read Channel Map: which channels a link uses (Core 5.4, Vol 4, Part E, 7.8.20).
public struct LEReadChannelMap: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0015)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) {
        self.connectionHandle = connectionHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)
        /// The channels in use; that of a peripheral is what the central told it.
        public var channelMap: ChannelMap = .all

        public init(
            status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0),
            channelMap: ChannelMap = .all
        ) {
            self.status = status
            self.connectionHandle = connectionHandle
            self.channelMap = channelMap
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
            channelMap = try ChannelMap(decoding: &reader)
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
            channelMap.encode(into: &packet)
        }
    }
}
