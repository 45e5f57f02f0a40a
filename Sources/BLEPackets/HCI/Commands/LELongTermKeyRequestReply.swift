/// LE Long Term Key Request Reply: the key that `LELongTermKeyRequest` asked for (Core 5.4, Vol 4, Part E, 7.8.25).
public struct LELongTermKeyRequestReply: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x001A)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// The key of the bond, or the short term key of a pairing that is under way.
    public var longTermKey: Key128

    public init(connectionHandle: ConnectionHandle, longTermKey: Key128) {
        self.connectionHandle = connectionHandle
        self.longTermKey = longTermKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        longTermKey = Key128(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(longTermKey.rawValue)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        public var connectionHandle = ConnectionHandle(rawValue: 0)

        public init(status: HCIStatus = .success, connectionHandle: ConnectionHandle = ConnectionHandle(rawValue: 0)) {
            self.status = status
            self.connectionHandle = connectionHandle
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            connectionHandle = ConnectionHandle(rawValue: try reader.read())
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(connectionHandle.rawValue)
        }
    }
}
