import BLE
import BLESensors
import Synchronization

/// Prints discoveries: all of them as JSON; for people, those that say something new.
final class ScanPrinter: Sendable {
    private let console: Console
    private let request: ScanRequest
    private let keys: SensorKeys?
    /// What was printed of each device last. Bounded: a crowd of changing addresses must not fill memory.
    private let printed = Mutex<[DeviceAddress: String]>([:])
    private static let capacity = 16384

    init(console: Console, request: ScanRequest, keys: SensorKeys? = nil) {
        self.keys = keys
        self.console = console
        self.request = request
    }

    /// - Returns: whether it was printed.
    func print(_ discovery: Discovery) -> Bool {
        let output = DiscoveryOutput(discovery, scanFor: request.serviceUUIDs, keys: keys)
        if !console.isJSON, !request.allowsDuplicates, let address = discovery.address {
            let details = output.details
            let isNew = printed.withLock { printed in
                if printed.count >= Self.capacity { printed.removeAll() }
                return printed.updateValue(details, forKey: address) != details
            }
            guard isNew else { return false }
        }
        console.print(output.json, text: output.text)
        return true
    }
}
