import BLE
import BLEVirtualTransports

var configuration = AdapterConfiguration()
configuration.makeVirtualTransport = VirtualTransports.open
let adapter = try await Adapter.open("sim", configuration: configuration)

let belts = try await adapter.scan(for: .seconds(3), ScanRequest(serviceUUIDs: [.heartRate]))
for belt in belts { print(belt) }
await adapter.close()
