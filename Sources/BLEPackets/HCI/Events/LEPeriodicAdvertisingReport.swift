/// LE Periodic Advertising Report [v1]: what a train said (Core 5.4, Vol 4, Part E, 7.7.65.15).
public struct LEPeriodicAdvertisingReport: LEMetaEvent {
    public static let subevent = LESubeventCode.periodicAdvertisingReport

    public var synchronizationHandle: SynchronizationHandle
    /// dBm; 127 when it is not known.
    public var transmitPower: Int8
    /// dBm; 127 when it is not known.
    public var rssi: Int8
    /// The kind of constant tone extension; 0xFF for none.
    public var cteType: UInt8
    /// Whether this is all of the data, or more follows, or the rest was lost.
    public var dataStatus: AdvertisingDataStatus
    /// At most 247 octets.
    public var data: [UInt8]

    public init(
        synchronizationHandle: SynchronizationHandle, transmitPower: Int8 = 127, rssi: Int8 = 127,
        cteType: UInt8 = 0xFF, dataStatus: AdvertisingDataStatus = .complete, data: [UInt8]
    ) {
        self.synchronizationHandle = synchronizationHandle
        self.transmitPower = transmitPower
        self.rssi = rssi
        self.cteType = cteType
        self.dataStatus = dataStatus
        self.data = data
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        synchronizationHandle = SynchronizationHandle(rawValue: try reader.read())
        transmitPower = try reader.read()
        rssi = try reader.read()
        cteType = try reader.read()
        dataStatus = AdvertisingDataStatus(rawValue: try reader.read())
        data = try reader.readCountedOctets()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(synchronizationHandle.rawValue)
        packet.write(transmitPower)
        packet.write(rssi)
        packet.write(cteType)
        packet.write(dataStatus.rawValue)
        packet.write(counted: data)
    }
}
