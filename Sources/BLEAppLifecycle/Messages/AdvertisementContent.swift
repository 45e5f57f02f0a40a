import BLEPackets

/// The content of a discovery's dictionary (SPEC 2.2); `nil` and empty mean that the key is absent.
///
/// Copies share their fields: the apps that receive a report get the same ones.
public struct AdvertisementContent: Hashable, Sendable {
    /// The service data of one service.
    public struct ServiceData: Hashable, Sendable {
        /// The service.
        public var uuid: BluetoothUUID
        /// The octets after the UUID.
        public var data: [UInt8]

        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }

    /// All of it at once.
    package struct Fields: Hashable, Sendable {
        package var localName: String?
        package var manufacturerData: [UInt8]?
        package var serviceData: [ServiceData] = []
        package var serviceUUIDs: [BluetoothUUID] = []
        package var overflowServiceUUIDs: [BluetoothUUID] = []
        package var solicitedServiceUUIDs: [BluetoothUUID] = []
        package var txPower: Int8?
        package var isConnectable = false
        package var microseconds: Int64 = 0

        package init() {}

        /// The memory that they take, in octets.
        fileprivate var octets: Int {
            (manufacturerData?.count ?? 0) + serviceData.reduce(0) { $0 + 24 + $1.data.count } + serviceUUIDs.count * 24
        }
    }

    private final class Storage: Sendable {
        let fields: Fields
        let octets: Int

        init(_ fields: Fields) {
            self.fields = fields
            octets = fields.octets
        }

        static let empty = Storage(Fields())
    }

    private var storage: Storage

    public init() { storage = .empty }

    package init(_ fields: Fields) { storage = Storage(fields) }

    package private(set) var fields: Fields {
        get { storage.fields }
        set { storage = Storage(newValue) }
    }

    /// The local name, complete or shortened.
    public var localName: String? {
        get { storage.fields.localName }
        set { fields.localName = newValue }
    }
    /// The first manufacturer-specific data, including the company identifier (least significant octet first).
    public var manufacturerData: [UInt8]? {
        get { storage.fields.manufacturerData }
        set { fields.manufacturerData = newValue }
    }
    /// In the order of the advertisement.
    public var serviceData: [ServiceData] {
        get { storage.fields.serviceData }
        set { fields.serviceData = newValue }
    }
    /// The services outside the overflow area, each once.
    public var serviceUUIDs: [BluetoothUUID] {
        get { storage.fields.serviceUUIDs }
        set { fields.serviceUUIDs = newValue }
    }
    /// Services of the scan whose bit is set in the overflow area (SPEC 3.6).
    public var overflowServiceUUIDs: [BluetoothUUID] {
        get { storage.fields.overflowServiceUUIDs }
        set { fields.overflowServiceUUIDs = newValue }
    }
    /// The services that the device solicits.
    public var solicitedServiceUUIDs: [BluetoothUUID] {
        get { storage.fields.solicitedServiceUUIDs }
        set { fields.solicitedServiceUUIDs = newValue }
    }
    /// The transmit power in dBm.
    public var txPower: Int8? {
        get { storage.fields.txPower }
        set { fields.txPower = newValue }
    }
    /// Whether the advertisement is connectable.
    public var isConnectable: Bool {
        get { storage.fields.isConnectable }
        set { fields.isConnectable = newValue }
    }
    /// When the packet was received, in microseconds of the engine's clock.
    public var microseconds: Int64 {
        get { storage.fields.microseconds }
        set { fields.microseconds = newValue }
    }

    /// The memory that the content takes, in octets.
    var octets: Int { storage.octets }

    public static func == (one: AdvertisementContent, other: AdvertisementContent) -> Bool {
        one.storage === other.storage || one.fields == other.fields
    }

    public func hash(into hasher: inout Hasher) { fields.hash(into: &hasher) }
}
