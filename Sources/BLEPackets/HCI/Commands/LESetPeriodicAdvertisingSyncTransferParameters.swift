/// LE Set Periodic Advertising Sync Transfer Parameters: what to do when the peer of a link tells of a train (Core 5.4,
/// Vol 4, Part E, 7.8.91).
public struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x005C)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    public var mode: PeriodicSyncTransferMode
    /// Events that may be left out after one that was received, 0 to 499.
    public var skip: UInt16
    /// Without an event for so long the train is lost.
    public var synchronizationTimeout: SupervisionTimeout
    /// A bit for each kind of constant tone extension that is not wanted.
    public var cteType: UInt8

    public init(
        connectionHandle: ConnectionHandle, mode: PeriodicSyncTransferMode, skip: UInt16 = 0,
        synchronizationTimeout: SupervisionTimeout, cteType: UInt8 = 0
    ) {
        self.connectionHandle = connectionHandle
        self.mode = mode
        self.skip = skip
        self.synchronizationTimeout = synchronizationTimeout
        self.cteType = cteType
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        mode = PeriodicSyncTransferMode(rawValue: try reader.read())
        skip = try reader.read()
        synchronizationTimeout = SupervisionTimeout(rawValue: try reader.read())
        cteType = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(mode.rawValue)
        packet.write(skip)
        packet.write(synchronizationTimeout.rawValue)
        packet.write(cteType)
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
