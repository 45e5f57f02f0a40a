import BLEHost
import BLEPackets

/// What stands in the dictionary of a discovery (SPEC 2.2); `nil` and empty stand for a key that is absent.
public struct AdvertisementContent: Hashable, Codable, Sendable {
    public struct ServiceData: Hashable, Codable, Sendable {
        public var uuid: BluetoothUUID
        public var data: [UInt8]
    }

    public var localName: String?
    /// Of the first structure, its company identifier in front, least significant octet first.
    public var manufacturerData: [UInt8]?
    public var serviceData: [ServiceData] = []
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Those that were scanned for and whose bit is set in the overflow area (SPEC 3.6).
    public var overflowServiceUUIDs: [BluetoothUUID] = []
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// dBm.
    public var txPower: Int8?
    public var isConnectable = false
    /// When it was heard, on the engine's time line.
    public var microseconds: Int64 = 0

    public init() {}
}
