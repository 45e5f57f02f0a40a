//! Lists the devices in range, with the strength at which each is received.
//!
//! The argument names the adapter: `user:0` for `hci0`; without one, simulated devices are found.

import BLE
// snippet.hide
import BLEVirtualTransports
// snippet.show

do {
    var configuration = AdapterConfiguration()
    // snippet.hide
    configuration.makeVirtualTransport = VirtualTransports.open
    // snippet.show
    let adapter = try await Adapter.open(CommandLine.arguments.dropFirst().first ?? "sim", configuration: configuration)
    for device in try await adapter.scan(for: .seconds(2)) {
        let name = device.advertisingData.localName ?? "no name"
        print(device.rssi, "dBm", device.address.map { "\($0)" } ?? "anonymous", name)
    }
    await adapter.close()
} catch let error as BLEError {
    print(error.cause)
    if let remedy = error.remedy { print("→", remedy) }
}
