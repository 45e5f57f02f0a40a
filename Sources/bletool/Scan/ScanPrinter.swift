import BLE
import BLESensors
import BLEText
import Synchronization

/// Prints discoveries: all of them as JSON; as text, only changes.
final class ScanPrinter: Sendable {
    private let console: Console
    private let request: ScanRequest
    private let keys: SensorKeys?
    /// The last text for each device. Bounded, because changing addresses must not fill the memory.
    private let printed = Mutex<[DeviceAddress: String]>([:])
    private static let capacity = 16384
    /// Lines until the scan is over; `nil`: no limit.
    private let limit: Int?
    /// Only devices of this name; case does not matter.
    private let name: String?
    private let count = Mutex(0)
    /// The names of other devices.
    private let others: Mutex<HeardNames>

    /// - Parameter limit: after so many reports the scan is over.
    init(
        console: Console, request: ScanRequest, keys: SensorKeys? = nil, name: String? = nil, limit: Int? = nil
    ) {
        self.keys = keys
        self.limit = limit
        self.name = name
        self.console = console
        self.request = request
        others = Mutex(HeardNames(near: name ?? ""))
    }

    /// Scans until the limit is reached or the task is cancelled.
    func print(_ adapter: Adapter) async throws {
        let scan = adapter.scan(request)
        for try await discovery in scan {
            guard print(discovery) else { continue }
            let printed = count.withLock { count in
                count += 1
                return count
            }
            if printed == limit { break }
        }
        if scan.droppedCount > 0 {
            console.note("\(scan.droppedCount) reports were lost because output was too slow")
        }
    }

    /// What is said at the end of a scan that printed nothing.
    var emptyNote: String? {
        guard count.withLock({ $0 }) == 0 else { return nil }
        let isFiltered = request.minimumRSSI != nil || !request.serviceUUIDs.isEmpty || !request.acceptList.isEmpty
        if isFiltered { return "no device that matches was heard" }
        guard let name else { return "no device was heard" }
        return "no device called \(name.quoted()) was heard" + name.advice(heard: others.withLock { $0.names })
    }

    /// - Returns: whether it was printed.
    func print(_ discovery: Discovery) -> Bool {
        let heardName = discovery.advertisingData.localNameWithoutPadding ?? ""
        if let name, !name.isSameName(as: heardName) {
            others.withLock { $0.add(heardName) }
            return false
        }
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
