import BLEHost
import BLEPackets

/// A packet of a device, heard by one of the gateway's adapters.
public struct Sighting: Sendable {
    /// The place of the adapter in the list of `Gateway.setAdapters`.
    public var adapter: Int
    /// Who was heard: the identity where its keys are known; `nil` for an anonymous advertisement.
    public var address: DeviceAddress?
    /// In dBm; 127 when it is unknown.
    public var rssi: Int8
    /// Whether the device accepts connections.
    public var isConnectable: Bool
    /// Advertising data as received.
    public var advertisement: [UInt8]
    /// The scan response, empty while none has been heard.
    public var scanResponse: [UInt8]

    public init(
        adapter: Int, address: DeviceAddress?, rssi: Int8, isConnectable: Bool, advertisement: [UInt8],
        scanResponse: [UInt8] = []
    ) {
        self.adapter = adapter
        self.address = address
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.advertisement = advertisement
        self.scanResponse = scanResponse
    }

    public init(_ discovery: Discovery, adapter: Int) {
        self.init(
            adapter: adapter, address: discovery.address, rssi: discovery.rssi,
            isConnectable: discovery.isConnectable, advertisement: discovery.advertisement,
            scanResponse: discovery.scanResponse)
    }
}
