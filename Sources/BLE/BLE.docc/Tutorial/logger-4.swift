import BLEValues
import BLEVirtualTransports

var configuration = AdapterConfiguration()
configuration.makeVirtualTransport = VirtualTransports.open
let adapter = try await Adapter.open("sim", configuration: configuration)

let belts = try await adapter.scan(for: .seconds(3), ScanRequest(serviceUUIDs: [.heartRate]))
if let address = belts.max(by: { $0.rssi < $1.rssi })?.address {
    for await state in adapter.reconnecting(to: address) {
        print(state)
        guard case .connected(let belt) = state else { continue }
        do {
            for try await rate in try await belt.values(of: .heartRateMeasurement) {
                print(rate.beatsPerMinute)
            }
        } catch {
            print(error)
        }
    }
}
await adapter.close()
