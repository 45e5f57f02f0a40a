#if SERVICES
import BLE
import Metrics
import Synchronization

extension AdapterConfiguration {
    /// Counts and times what the adapter does with swift-metrics, from now on.
    ///
    /// | name | kind | dimensions |
    /// |---|---|---|
    /// | `ble_discoveries_total` | counter | |
    /// | `ble_values_total` | counter of notifications and indications | |
    /// | `ble_links` | gauge | `role` |
    /// | `ble_connections_total` | counter | `role` |
    /// | `ble_disconnections_total` | counter | `reason`: `released`, `controllerLost`, or the status |
    /// | `ble_operation_seconds` | timer | `operation` |
    /// | `ble_operation_errors_total` | counter, without cancelled operations | `operation`, `code` of the error |
    /// | `ble_recoveries_total` | counter | `step` |
    /// | `ble_pairings_total` | counter | `result` |
    /// | `ble_malformed_packets_total` | counter | |
    ///
    /// Each has the dimension `adapter`, too.
    /// - Parameter factory: where the metrics go; `nil`: the factory of the process.
    public mutating func recordMetrics(factory: (any MetricsFactory)? = nil) {
        observers.append(MetricsObserver(factory: factory ?? MetricsSystem.factory))
    }
}

/// Counts and times what an adapter does.
final class MetricsObserver: AdapterObserver {
    private struct Links {
        var roles: [LinkID: LinkRole] = [:]
        var counters: [[String]: Counter] = [:]
    }

    private let factory: any MetricsFactory
    // Counters that have no dimension but the adapter are looked up once: packets must not allocate.
    private let state = Mutex(Links())

    init(factory: any MetricsFactory) { self.factory = factory }

    func observe(_ activity: AdapterActivity, of address: TransportAddress) {
        let adapter = "\(address)"
        switch activity {
        case .event(let event): observe(event, of: adapter)
        case .ended(let operation, let duration, let error):
            let dimensions = [("adapter", adapter), ("operation", operation.rawValue)]
            let (seconds, attoseconds) = duration.components
            Timer(label: "ble_operation_seconds", dimensions: dimensions, factory: factory)
                .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            guard let error else { return }
            // Ending a scan is no error.
            if case .cancelled = error { return }
            count(
                "ble_operation_errors_total", [adapter, operation.rawValue, error.code.rawValue],
                ["adapter", "operation", "code"])
        case .closed:
            state.withLock { $0.roles.removeAll() }
            for role in [LinkRole.central, .peripheral] { setLinks(role, 0, of: adapter) }
        }
    }

    private func observe(_ event: HostEvent, of adapter: String) {
        switch event {
        case .discovered: count("ble_discoveries_total", [adapter], ["adapter"])
        case .gatt(_, .notification): count("ble_values_total", [adapter], ["adapter"])
        case .malformedPacket: count("ble_malformed_packets_total", [adapter], ["adapter"])
        case .connected(let link, _), .centralConnected(let link):
            let isNew = state.withLock { $0.roles.updateValue(link.role, forKey: link.id) == nil }
            guard isNew else { break }
            count("ble_connections_total", [adapter, "\(link.role)"], ["adapter", "role"])
            linksChanged(of: adapter)
        case .disconnected(let link, _, let reason), .centralDisconnected(let link, let reason):
            let wasThere = state.withLock { $0.roles.removeValue(forKey: link) != nil }
            guard wasThere else { break }
            count("ble_disconnections_total", [adapter, reason.word], ["adapter", "reason"])
            linksChanged(of: adapter)
        case .recovering(let step): count("ble_recoveries_total", [adapter, "\(step)"], ["adapter", "step"])
        case .pairing(_, .paired): count("ble_pairings_total", [adapter, "paired"], ["adapter", "result"])
        case .pairing(_, .failed): count("ble_pairings_total", [adapter, "failed"], ["adapter", "result"])
        default: break
        }
    }

    private func count(_ label: String, _ values: [String], _ names: [String]) {
        let counter = state.withLock { state in
            let key = [label] + values
            if let known = state.counters[key] { return known }
            let made = Counter(label: label, dimensions: Array(zip(names, values)), factory: factory)
            state.counters[key] = made
            return made
        }
        counter.increment()
    }

    private func linksChanged(of adapter: String) {
        let roles = state.withLock { Array($0.roles.values) }
        for role in [LinkRole.central, .peripheral] { setLinks(role, roles.filter { $0 == role }.count, of: adapter) }
    }

    private func setLinks(_ role: LinkRole, _ count: Int, of adapter: String) {
        Gauge(label: "ble_links", dimensions: [("adapter", adapter), ("role", "\(role)")], factory: factory).record(
            count)
    }
}

extension DisconnectionReason {
    fileprivate var word: String {
        switch self {
        case .releasedByClient: "released"
        case .controller(let status): "0x" + String(status.rawValue, radix: 16)
        case .controllerLost: "controllerLost"
        }
    }
}
#endif
