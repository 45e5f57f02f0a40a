import BLEDaemon
import BLEHost
import BLEPackets
import BLETransport

/// The engine below a fuzzed daemon: a `Host` on a controller that answers as the input wishes. It watches what it is
/// asked for.
final class FuzzedEngine: DaemonEngine, DaemonLookups {
    private(set) var host = Host(configuration: HostConfiguration(hasCryptoProvider: false))
    var controller: FuzzedController
    private(set) var hasTransport = false
    private(set) var isOpen = false
    private(set) var bonds: [Bond] = []
    var programs: [FuzzedProgram] = []
    private(set) var violation: String?
    /// The operations that have not ended, with their clients.
    private var open: [OperationID: ClientID] = [:]
    private var packetCount = 0
    private static let packetLimit = 20_000

    init(_ choice: UInt8) { controller = FuzzedController(choice) }

    func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID {
        if let program = programs.first(where: { $0.id.client == client }) {
            violation = violation ?? program.mayNot(command)
        }
        let operation = host.submit(command, from: client, at: now)
        open[operation] = client
        return operation
    }

    func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) {
        host.setUser(user, of: client, at: now)
    }

    func nextEvent() -> HostEvent? {
        let event = host.nextEvent()
        switch event {
        case .completed(let operation, _):
            if open.removeValue(forKey: operation) == nil {
                violation = "operation \(operation.rawValue) has ended twice"
            }
        case .connected(let link, let client):
            for place in programs.indices where programs[place].id.client == client { programs[place].learn(link.id) }
        case .centralConnected(let link): for place in programs.indices { programs[place].learn(link.id) }
        case .bondChanged(let bond): bonds = bonds.filter { $0.identity != bond.identity } + [bond]
        case .bondRemoved(let identity): bonds.removeAll { $0.identity == identity }
        default: break
        }
        return event
    }

    func count(of client: ClientID) -> Int { open.values.count { $0 == client } }

    // MARK: The controller

    func openTransport(at now: Instant) {
        (hasTransport, isOpen) = (true, true)
        host.transportOpened(at: now)
    }

    func closeTransport(at now: Instant) {
        guard hasTransport else { return }
        hasTransport = false
        host.transportClosed(at: now)
    }

    /// The daemon learns that the transport has ended.
    func hasEnded() -> Bool {
        guard isOpen, !hasTransport else { return false }
        isOpen = false
        return true
    }

    func receive(_ packet: [UInt8], at now: Instant) {
        if hasTransport { host.receive(packet.span.bytes, at: now) }
    }

    func advance(to now: Instant) { host.advance(to: now) }

    /// Lets the controller answer.
    /// - Returns: whether there was anything.
    func exchange(at now: Instant) -> Bool {
        var packets: [[UInt8]] = []
        host.drainPackets { packets.append($0.copied()) }
        var isBusy = !packets.isEmpty
        while let question = host.nextCryptoRequest() {
            isBusy = true
            host.answer(question.id, with: .failure(.unavailable), at: now)
        }
        for packet in packets where hasTransport {
            packetCount += 1
            if let answer = controller.answer(packet).answer { receive(answer, at: now) }
        }
        return isBusy && packetCount <= Self.packetLimit
    }

    var address: TransportAddress { .simulator(scenario: nil) }
    var information: ControllerInformation { host.controllerInformation }
    var counters: HostCounters { host.counters }
    var identityResolvingKey: Key128? { nil }
    func takeStoreError() -> BondStoreError? { nil }

    // MARK: The machine

    func isPeerGone(_ connection: ConnectionID) -> Bool { !programs.contains { $0.id == connection } }
    func programName(of process: Int32) -> String { "program" }
    func groups(of user: UInt32) -> [UInt32] { [] }
    func hasAdapter(_ name: String) -> Bool { false }
    func isLogged(_ level: DaemonSettings.LogLevel) -> Bool { true }
}
