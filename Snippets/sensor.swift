//! Reads a sensor's battery and follows three of its heart rates.

import BLEValues
// snippet.hide
import BLEVirtualTransports
// snippet.show

var configuration = AdapterConfiguration()
// snippet.hide
configuration.makeVirtualTransport = VirtualTransports.open
// snippet.show
let adapter = try await Adapter.open(CommandLine.arguments.dropFirst().first ?? "sim", configuration: configuration)

// The link ends with the closure, also when it throws.
try await adapter.withConnection(to: "Jelling Heart", timeout: .seconds(60)) { sensor in
    print("battery", try await sensor.read(.batteryLevel), "%")
    var count = 0
    for try await rate in try await sensor.values(of: .heartRateMeasurement) {
        print(rate.beatsPerMinute, "beats per minute")
        count += 1
        if count == 3 { break }
    }
}
await adapter.close()
