import BLE
import BLEVirtualTransports

var configuration = AdapterConfiguration()
configuration.makeVirtualTransport = VirtualTransports.open
let adapter = try await Adapter.open("sim", configuration: configuration)

let belts = try await adapter.scan(for: .seconds(3), ScanRequest(serviceUUIDs: [.heartRate]))
if let nearest = belts.max(by: { $0.rssi < $1.rssi }) {
    let belt = try await adapter.connect(to: nearest, timeout: .seconds(10))
    print(belt)
}
await adapter.close()
