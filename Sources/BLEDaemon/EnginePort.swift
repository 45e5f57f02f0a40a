@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEPackets

/// The runner's engine as the life of apps uses it. Its events are also kept for the tools.
///
/// A class, because both the life of apps and the daemon hold it.
final class EnginePort: LifecycleHost {
    let runner: HostRunner
    /// Events of the engine that the daemon has not yet handled.
    var told = Queue<HostEvent>()
    var ledger = RequestLedger()

    init(_ runner: HostRunner) { self.runner = runner }

    var hasTransport: Bool { runner.hasTransport }

    func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        let operation = runner.submit(command, from: client)
        ledger.note(command, as: operation, from: client)
        return operation
    }

    func nextEvent() -> HostEvent? {
        guard let event = runner.nextEvent() else { return nil }
        // Each app that scans may get thousands of discoveries a second, which concern nothing but its own manager.
        if case .discovered(let discovery) = event, !discovery.concernsTools { return event }
        told.append(event)
        return event
    }
}

extension Discovery {
    fileprivate var concernsTools: Bool { client.isTool || others.contains { $0.client.isTool } }
}
