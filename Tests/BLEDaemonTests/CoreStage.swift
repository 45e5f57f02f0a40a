import BLE
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport

@testable import BLEDaemon

/// A core without sockets, processes and clock, whose effects a test carries out.
struct CoreStage: ~Copyable {
    var core: DaemonCore
    let machine: CoreMachine
    /// The time, in microseconds.
    var time: UInt64 = 1_000_000
    var effects: [DaemonEffect] = []
    var inputs: [(time: UInt64, input: DaemonInput)] = []

    init(_ rules: DaemonRules, _ machine: CoreMachine = CoreMachine()) {
        self.machine = machine
        core = DaemonCore(rules, on: machine, lookups: machine, seed: [UInt8](repeating: 7, count: 32))
    }

    /// Applies an input, and those that answer its effects.
    mutating func apply(_ input: DaemonInput) {
        inputs.append((time, input))
        core.apply(input, at: Instant(microseconds: Int64(time)))
        while let effect = core.nextEffect() {
            effects.append(effect)
            switch effect {
            case .planRound:
                apply(.turn)
                while core.isInRound {
                    time += 100
                    apply(.turn)
                }
            case .readManifests(_, let reason): apply(.manifests(InstalledApps(), reason))
            case .close(let id): apply(.closed(id))
            default: break
            }
        }
    }

    /// Handles the events of the engine.
    mutating func handle(_ events: HostEvent...) {
        machine.events += events
        while !machine.events.isEmpty { apply(.engine) }
    }

    mutating func connect(_ number: UInt32, user: UInt32) {
        let peer = PeerCredentials(user: user, group: user, process: Int32(1000 + number))
        apply(.connected(ConnectionID(rawValue: number), peer))
    }

    mutating func send(_ message: FromClient, from number: UInt32) {
        apply(.received(ConnectionID(rawValue: number), message.framed()))
    }

    /// Passes the time to a moment, with what is due before.
    mutating func wait(until end: UInt64) {
        while let next = core.nextDeadline, next.microseconds <= end {
            time = max(time, UInt64(next.microseconds))
            apply(.advance)
        }
        time = end
    }

    /// The messages for a program, once.
    mutating func messages(for number: UInt32) throws -> [FromDaemon] {
        var frames = FrameReader(limit: BledProtocol.eventLimit)
        effects.removeAll { effect in
            guard case .send(ConnectionID(rawValue: number), let octets) = effect else { return false }
            frames.append(octets.span.bytes)
            return true
        }
        var messages: [FromDaemon] = []
        while let octets = try frames.next() { messages.append(try FromDaemon(octets: octets)) }
        return messages
    }
}

/// An engine that accepts everything and has the events that a test gives it, and a machine on which nothing happens.
/// Its answers are recorded, and another machine can give them again.
final class CoreMachine: DaemonEngine, DaemonLookups {
    enum Answer: Equatable {
        case event(HostEvent?)
        case isOpen(Bool)
    }

    var events: [HostEvent] = []
    private(set) var commands: [(operation: OperationID, command: HostCommand, client: ClientID)] = []
    var isConnected = false
    var bonds: [Bond] = []
    private(set) var answers: [Answer] = []
    /// The answers of another machine, which this one gives.
    private var script: [Answer]?

    init(repeating script: [Answer]? = nil) { self.script = script }

    private func answer(_ own: Answer) -> Answer {
        let answer = script?.isEmpty == false ? script!.removeFirst() : own
        answers.append(answer)
        return answer
    }

    func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID {
        let operation = OperationID(rawValue: UInt64(commands.count + 1))
        commands.append((operation, command, client))
        return operation
    }

    func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) {}
    func nextEvent() -> HostEvent? {
        guard case .event(let event) = answer(.event(events.isEmpty ? nil : events.removeFirst())) else { return nil }
        return event
    }

    var isOpen: Bool { answer(.isOpen(isConnected)) == .isOpen(true) }
    var hasTransport: Bool { isOpen }
    var address: TransportAddress { .simulator(scenario: nil) }
    var information: ControllerInformation { ControllerInformation() }
    var counters: HostCounters { HostCounters() }
    var identityResolvingKey: Key128? { nil }
    func takeStoreError() -> BondStoreError? { nil }

    func isPeerGone(_ connection: ConnectionID) -> Bool { false }
    func programName(of process: Int32) -> String { "program" }
    func groups(of user: UInt32) -> [UInt32] { [user] }
    func hasAdapter(_ name: String) -> Bool { false }
    func isLogged(_ level: DaemonSettings.LogLevel) -> Bool { level >= .info }
}
