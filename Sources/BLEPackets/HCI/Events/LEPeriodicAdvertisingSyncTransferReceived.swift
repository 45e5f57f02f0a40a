/// LE Periodic Advertising Sync Transfer Received [v1]: a peer told of a train, and it is followed now or was not found
/// (Core 5.4, Vol 4, Part E, 7.7.65.24).
public struct LEPeriodicAdvertisingSyncTransferReceived: LEMetaEvent {
    public static let subevent = LESubeventCode.periodicAdvertisingSyncTransferReceived

    public var status: HCIStatus
    public var connectionHandle: ConnectionHandle
    /// From the peer's host.
    public var serviceData: UInt16
    public var synchronizationHandle: SynchronizationHandle
    /// 0 to 15.
    public var advertisingSetIdentifier: UInt8
    public var advertiserAddress: DeviceAddress
    /// The PHY that the train is sent on.
    public var advertiserPHY: PHY
    /// Time between two events of the train.
    public var interval: PeriodicAdvertisingInterval
    public var advertiserClockAccuracy: ClockAccuracy

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, serviceData: UInt16,
        synchronizationHandle: SynchronizationHandle, advertisingSetIdentifier: UInt8, advertiserAddress: DeviceAddress,
        advertiserPHY: PHY, interval: PeriodicAdvertisingInterval, advertiserClockAccuracy: ClockAccuracy
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.synchronizationHandle = synchronizationHandle
        self.advertisingSetIdentifier = advertisingSetIdentifier
        self.advertiserAddress = advertiserAddress
        self.advertiserPHY = advertiserPHY
        self.interval = interval
        self.advertiserClockAccuracy = advertiserClockAccuracy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        serviceData = try reader.read()
        synchronizationHandle = SynchronizationHandle(rawValue: try reader.read())
        advertisingSetIdentifier = try reader.read()
        advertiserAddress = try DeviceAddress(decodingWithKind: &reader, status: status)
        advertiserPHY = PHY(rawValue: try reader.read())
        interval = PeriodicAdvertisingInterval(rawValue: try reader.read())
        advertiserClockAccuracy = ClockAccuracy(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        packet.write(connectionHandle.rawValue)
        packet.write(serviceData)
        packet.write(synchronizationHandle.rawValue)
        packet.write(advertisingSetIdentifier)
        advertiserAddress.encodeWithKind(into: &packet)
        packet.write(advertiserPHY.rawValue)
        packet.write(interval.rawValue)
        packet.write(advertiserClockAccuracy.rawValue)
    }
}
