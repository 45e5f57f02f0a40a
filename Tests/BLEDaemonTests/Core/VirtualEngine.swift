import BLEHost
import BLEPackets
import BLETransport

@testable import BLEDaemon

/// The engine below a daemon's core: a `Host` on a simulated controller.
final class VirtualEngine: DaemonEngine {
    var host: Host
    private(set) var commands: [(command: HostCommand, client: ClientID)] = []
    private(set) var bonds: [Bond] = []
    private(set) var hasTransport = false
    /// Whether the transport has ended and the core does not know it.
    private var hasEnded = false
    /// Why it has ended.
    private var trouble: String?
    /// The operations that have not ended.
    private(set) var openOperations: Set<OperationID> = []
    /// How many operations have ended that were not open.
    private(set) var surplusEnds = 0
    /// Whether commands are noted.
    var collectsCommands = true

    init(_ configuration: HostConfiguration) {
        host = Host(configuration: configuration)
        host.joinsDiscoveries = true
    }

    func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID {
        if collectsCommands { commands.append((command, client)) }
        let operation = host.submit(command, from: client, at: now)
        openOperations.insert(operation)
        return operation
    }

    func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) {
        host.setUser(user, of: client, at: now)
    }

    func nextEvent() -> HostEvent? {
        guard let event = host.nextEvent() else { return nil }
        switch event {
        case .completed(let operation, _): if openOperations.remove(operation) == nil { surplusEnds += 1 }
        case .bondChanged(let bond):
            bonds.removeAll { $0.identity == bond.identity }
            bonds.append(bond)
        case .bondRemoved(let identity): bonds.removeAll { $0.identity == identity }
        default: break
        }
        return event
    }

    func open(at now: Instant) {
        hasTransport = true
        host.transportOpened(at: now)
    }

    /// - Parameter reason: why; `nil`: it was closed in order.
    func close(_ reason: String?, at now: Instant) {
        guard hasTransport else { return }
        hasTransport = false
        (hasEnded, trouble) = (true, reason)
        host.transportClosed(at: now)
    }

    func reopen(at now: Instant) {
        host.expectReset(at: now)
        host.transportClosed(at: now)
        host.transportOpened(at: now)
    }

    /// The end of the transport, once.
    func nextEnd() -> ControllerNews? {
        guard hasEnded else { return nil }
        hasEnded = false
        return .ended(trouble)
    }

    var isOpen: Bool { hasTransport || hasEnded }
    var address: TransportAddress { .simulator(scenario: nil) }
    var information: ControllerInformation { host.controllerInformation }
    var counters: HostCounters { host.counters }
    var identityResolvingKey: Key128? { nil }
    func takeStoreError() -> BondStoreError? { nil }
}
