/// LE Periodic Advertising Create Sync: follows a periodic train that scanning finds (Core 5.4, Vol 4, Part E, 7.8.67).
///
/// Command Status comes at once, `LEPeriodicAdvertisingSyncEstablished` when the train is found or the attempt was
/// cancelled.
public struct LEPeriodicAdvertisingCreateSync: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0044)
    public static let answer = CommandAnswer.status

    public var options: PeriodicSyncOptions
    /// 0 to 15; does not count with the periodic advertiser list.
    public var advertisingSetIdentifier: UInt8
    /// Does not count with the periodic advertiser list.
    public var advertiserAddress: DeviceAddress
    /// Events that may be left out after one that was received, 0 to 499.
    public var skip: UInt16
    /// Without an event for so long the train is lost.
    public var synchronizationTimeout: SupervisionTimeout
    /// A bit for each kind of constant tone extension that is not wanted.
    public var cteType: UInt8

    public init(
        options: PeriodicSyncOptions = [], advertisingSetIdentifier: UInt8, advertiserAddress: DeviceAddress,
        skip: UInt16 = 0, synchronizationTimeout: SupervisionTimeout, cteType: UInt8 = 0
    ) {
        self.options = options
        self.advertisingSetIdentifier = advertisingSetIdentifier
        self.advertiserAddress = advertiserAddress
        self.skip = skip
        self.synchronizationTimeout = synchronizationTimeout
        self.cteType = cteType
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        options = PeriodicSyncOptions(rawValue: try reader.read())
        advertisingSetIdentifier = try reader.read()
        advertiserAddress = try DeviceAddress(decodingWithKind: &reader)
        skip = try reader.read()
        synchronizationTimeout = SupervisionTimeout(rawValue: try reader.read())
        cteType = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(options.rawValue)
        packet.write(advertisingSetIdentifier)
        advertiserAddress.encodeWithKind(into: &packet)
        packet.write(skip)
        packet.write(synchronizationTimeout.rawValue)
        packet.write(cteType)
    }
}
