import BLEHost
import BLEPackets

/// What stands in the dictionary of a discovery (SPEC 2.2); `nil` and empty stand for a key that is absent.
public struct AdvertisementContent: Hashable, Codable, Sendable {
    /// One service's data.
    public struct ServiceData: Hashable, Codable, Sendable {
        /// Whose data it is.
        public var uuid: BluetoothUUID
        /// The octets behind the UUID.
        public var data: [UInt8]

        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }

    /// Complete or shortened.
    public var localName: String?
    /// Of the first structure, its company identifier in front, least significant octet first.
    public var manufacturerData: [UInt8]?
    /// In the order in which they stand.
    public var serviceData: [ServiceData] = []
    /// Those that everybody can read, each once.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Those that were scanned for and whose bit is set in the overflow area (SPEC 3.6).
    public var overflowServiceUUIDs: [BluetoothUUID] = []
    /// What the device looks for in others.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// dBm.
    public var txPower: Int8?
    /// Whether the device takes connections.
    public var isConnectable = false
    /// When it was heard, on the engine's time line.
    public var microseconds: Int64 = 0

    public init() {}
}
