//! Tests a function against a simulated device: what it says, and what happens when it fails.

import BLETestKit
import BLEValues

/// What is tested.
func batteryIsLow(_ adapter: Adapter, _ name: String) async throws -> Bool {
    try await adapter.withConnection(to: name, timeout: .seconds(60)) { try await $0.read(.batteryLevel) < 20 }
}

let radio = try TestRadio()
let belt = radio.add(
    TestDevice("Belt") {
        TestService(.batteryService) { TestCharacteristic(.batteryLevel, [.read], value: [12]) }
    })
let adapter = try await radio.openAdapter()

print("low:", try await batteryIsLow(adapter, "Belt"))
belt.setValue([80], of: .batteryLevel)
print("low:", try await batteryIsLow(adapter, "Belt"))

belt.failReads(of: .batteryLevel, with: .insufficientAuthorization)
do {
    _ = try await batteryIsLow(adapter, "Belt")
} catch let error as BLEError {
    print("refused:", error.code)
}
await adapter.close()
