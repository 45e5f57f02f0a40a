import BLEAppLifecycle
import BLEHost
import BLEPackets

/// The engine as the life of apps uses it. Its events also wait for the tools.
///
/// A class, because both the life of apps and the core refer to it.
final class EnginePort: LifecycleHost {
    let engine: any DaemonEngine
    /// Events of the engine that the core has not yet handled.
    var unhandled = Queue<HostEvent>()
    var ledger = RequestLedger()
    /// Whether something was asked of the engine since the owner looked last.
    var isUsed = false

    init(_ engine: any DaemonEngine) { self.engine = engine }

    var hasTransport: Bool { engine.hasTransport }

    func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID {
        isUsed = true
        return engine.submit(command, from: client, at: now)
    }

    func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) {
        isUsed = true
        engine.setUser(user, of: client, at: now)
    }

    func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        let operation = submit(command, from: client, at: now)
        ledger.note(command, as: operation, from: client)
        return operation
    }

    func nextEvent() -> HostEvent? {
        guard let event = engine.nextEvent() else { return nil }
        // Each app that scans may get thousands of discoveries a second, which concern nothing but its own manager.
        if case .discovered(let discovery) = event, !discovery.concernsTools { return event }
        unhandled.append(event)
        return event
    }
}

extension Discovery { fileprivate var concernsTools: Bool { client.isTool || others.contains { $0.client.isTool } } }
