/// LE Periodic Advertising Set Info Transfer: tells a peer how to follow our own train (Core 5.4, Vol 4, Part E,
/// 7.8.90).
public struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x005B)
    public static let answer = CommandAnswer.complete

    public var connectionHandle: ConnectionHandle
    /// Handed to the peer's host.
    public var serviceData: UInt16
    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8

    public init(connectionHandle: ConnectionHandle, serviceData: UInt16, advertisingHandle: UInt8) {
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        serviceData = try reader.read()
        advertisingHandle = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(serviceData)
        packet.write(advertisingHandle)
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
