/// LE Advertising Set Terminated: an advertising set ended, by a link, by its duration or by its count of events (Core
/// 5.4, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: LEMetaEvent {
    public static let subevent = LESubeventCode.advertisingSetTerminated

    /// Success when a link ended it.
    public var status: HCIStatus
    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    /// The link; meaningless after a failure.
    public var connectionHandle: ConnectionHandle
    /// Events sent, where their number was limited.
    public var completedExtendedAdvertisingEvents: UInt8

    public init(
        status: HCIStatus = .success, advertisingHandle: UInt8, connectionHandle: ConnectionHandle,
        completedExtendedAdvertisingEvents: UInt8 = 0
    ) {
        self.status = status
        self.advertisingHandle = advertisingHandle
        self.connectionHandle = connectionHandle
        self.completedExtendedAdvertisingEvents = completedExtendedAdvertisingEvents
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        advertisingHandle = try reader.read()
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        completedExtendedAdvertisingEvents = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(advertisingHandle)
        packet.write(connectionHandle.rawValue)
        packet.write(completedExtendedAdvertisingEvents)
    }
}
