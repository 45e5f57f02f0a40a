import BLEHost
import BLEPackets

/// A packet of a device, received by one of the gateway's adapters.
public struct Sighting: Sendable {
    /// The index of the adapter in the list of `Gateway.setAdapters`.
    public var adapter: Int
    /// The sender: the identity address if its keys are known; `nil` for an anonymous advertisement.
    public var address: DeviceAddress?
    /// The signal strength in dBm; 127 when it is unknown.
    public var rssi: Int8
    /// Whether the device accepts connections.
    public var isConnectable: Bool
    /// The advertising data as received.
    public var advertisement: [UInt8]
    /// The scan response; empty if none has been received.
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
