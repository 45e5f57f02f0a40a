import BLEHost
import BLEPackets

/// The content of a discovery's dictionary (SPEC 2.2); `nil` and empty mean that the key is absent.
public struct AdvertisementContent: Hashable, Codable, Sendable {
    /// The service data of one service.
    public struct ServiceData: Hashable, Codable, Sendable {
        /// The service.
        public var uuid: BluetoothUUID
        /// The octets after the UUID.
        public var data: [UInt8]

        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }

    /// The local name, complete or shortened.
    public var localName: String?
    /// The first manufacturer-specific data, including the company identifier (least significant octet first).
    public var manufacturerData: [UInt8]?
    /// In the order of the advertisement.
    public var serviceData: [ServiceData] = []
    /// The services outside the overflow area, each once.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Services of the scan whose bit is set in the overflow area (SPEC 3.6).
    public var overflowServiceUUIDs: [BluetoothUUID] = []
    /// The services that the device solicits.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// The transmit power in dBm.
    public var txPower: Int8?
    /// Whether the advertisement is connectable.
    public var isConnectable = false
    /// When the packet was received, in microseconds of the engine's clock.
    public var microseconds: Int64 = 0

    public init() {}
}
