import BLE

/// What a gateway's firmware does with Bluetooth LE, in one small program: scan, or connect, read and subscribe.
///
///     firmware-scan ADAPTER SECONDS [ADDRESS[/random] CHARACTERISTIC]
///
/// It links nothing but Swift's standard library and the stack: no Foundation, no argument parser.
@main
struct FirmwareScan {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 || arguments.count == 5, let seconds = Int(arguments[2]), seconds > 0 else {
            return print("usage: firmware-scan ADAPTER SECONDS [ADDRESS[/random] CHARACTERISTIC]")
        }
        do {
            let adapter = try await Adapter.open(arguments[1])
            do {
                if arguments.count == 5 {
                    try await observe(arguments[3], arguments[4], on: adapter, for: .seconds(seconds))
                } else {
                    try await scan(on: adapter, for: .seconds(seconds))
                }
            } catch {
                print(error)
            }
            await adapter.close()
        } catch {
            print(error)
        }
    }

    /// Prints a line for each device, and for each change of what it says.
    private static func scan(on adapter: Adapter, for duration: Duration) async throws {
        try await withTimeLimit(duration) {
            for try await discovery in adapter.scan() {
                let data = discovery.advertisingData
                let services = data.serviceUUIDs.map { $0.description }.joined(separator: " ")
                print(
                    discovery.address?.description ?? "anonymous", "\(discovery.rssi) dBm", data.localName ?? "-",
                    services)
            }
        }
    }

    /// Connects, lists the database, reads one value and prints those that the device sends by itself.
    private static func observe(
        _ address: String, _ characteristic: String, on adapter: Adapter, for duration: Duration
    ) async throws {
        guard let address = DeviceAddress(address), let uuid = BluetoothUUID(characteristic) else {
            return print("an address is AA:BB:CC:DD:EE:FF or AA:BB:CC:DD:EE:FF/random, a characteristic its UUID")
        }
        let peripheral = try await adapter.connect(to: address)
        for service in try await peripheral.discoverContents() {
            print(service.service.uuid)
            for entry in service.characteristics {
                print("  \(entry.characteristic.uuid)", entry.descriptors.map { $0.uuid.description })
                guard entry.characteristic.uuid == uuid else { continue }
                if entry.characteristic.properties.contains(.read) {
                    print("    value", try await peripheral.read(entry.characteristic))
                }
                guard entry.characteristic.properties.subscriptionMode != nil else { continue }
                try await withTimeLimit(duration) {
                    for try await value in try await peripheral.notifications(of: entry.characteristic) {
                        print("    notified", value.bytes)
                    }
                }
            }
        }
        try await peripheral.disconnect()
    }

    /// Runs `work` and cancels it when its time is over.
    private static func withTimeLimit(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask { try await Task.sleep(for: limit) }
            try await group.next()
            group.cancelAll()
        }
    }
}
