import BLEHost
import BLEPackets
import BLESecurity
import BLESimulator
import Foundation
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// A machine with apps, on a simulated controller.
final class AppStation: Station {
    let world: World
    let controller: SimulatedControllerID
    private var engine: LifecycleEngine<BLEHost.Host>

    private(set) var processActions: [(action: ProcessAction, app: AppID)] = []
    private(set) var alerts: [Alert] = []
    private(set) var withdrawnAlerts: [AlertID] = []
    private(set) var logs: [LogMessage] = []
    private(set) var hostEvents: [HostEvent] = []
    /// As a file would hold it.
    private(set) var journal: [UInt8]
    /// HCI commands that went to the controller.
    private(set) var sentCommands: [(opcode: HCIOpcode, parameters: [UInt8])] = []
    private var told: [(event: ClientEvent, manager: ManagerID, app: AppID)] = []
    /// How many discoveries several managers were told of at once.
    private(set) var sharedDiscoveryCount = 0
    /// How long the journal was when each event was told.
    private var journalLengths: [Int] = []

    init(
        _ world: World, configuration: HostConfiguration = HostConfiguration(),
        settings: LifecycleSettings = LifecycleSettings(), journal: [UInt8] = [], seed: UInt8 = 1,
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration(), starts: Bool = true,
        joinsDiscoveries: Bool = false
    ) {
        self.world = world
        self.journal = journal
        self.controller = world.air.addController(controller)
        engine = LifecycleEngine(
            configuration: configuration, settings: settings, seed: [UInt8](repeating: seed, count: 32),
            restoring: Self.state(in: journal))
        engine.withHost(at: world.now) { $0.joinsDiscoveries = joinsDiscoveries }
        world.add(self)
        if starts { start() }
    }

    static func state(in journal: [UInt8]) -> PreservedState {
        var state = PreservedState()
        for payload in Journal.payloads(in: journal) {
            if let entry = try? JSONDecoder().decode(JournalEntry.self, from: Data(payload)) { state.apply(entry) }
        }
        return state
    }

    func start() {
        take(.transportOpened, at: world.now)
        world.run(for: .seconds(5)) { engine.isReady }
    }

    var counters: HostCounters { engine.counters }

    // MARK: Inputs

    func apps<Value>(_ body: (inout AppLifecycle) -> Value) -> Value {
        let value = engine.withApps(at: world.now, body)
        drain()
        world.settle()
        return value
    }

    func ask(_ request: ClientRequest, _ manager: ManagerID, _ app: AppID) {
        apps { $0.receive(request, from: manager, of: app, at: world.now) }
    }

    func closeTransport() {
        take(.transportClosed, at: world.now)
    }

    // MARK: Outputs

    func events(of manager: ManagerID, _ app: AppID) -> [ClientEvent] {
        told.filter { $0.manager == manager && $0.app == app }.map(\.event)
    }

    /// Of all managers of an app, in order.
    func events(of app: AppID) -> [ClientEvent] { told.filter { $0.app == app }.map(\.event) }

    func forget(_ manager: ManagerID, _ app: AppID) {
        let kept = told.indices.filter { told[$0].manager != manager || told[$0].app != app }
        journalLengths = kept.map { journalLengths[$0] }
        told = kept.map { told[$0] }
    }

    /// What would be restored if the process had been killed when the first such event was told.
    func preserved(when isIt: (ClientEvent) -> Bool) -> PreservedState? {
        told.firstIndex { isIt($0.event) }.map { Self.state(in: Array(journal.prefix(journalLengths[$0]))) }
    }

    func actions(of app: AppID) -> [ProcessAction] { processActions.filter { $0.app == app }.map(\.action) }

    func forgetOutputs() {
        processActions = []
        alerts = []
        logs = []
        sentCommands = []
    }

    func commands(_ opcode: HCIOpcode) -> [[UInt8]] {
        sentCommands.filter { $0.opcode == opcode }.map(\.parameters)
    }

    private func drain() {
        while let output = engine.nextOutput() {
            switch output {
            case .submit: preconditionFailure("the engine takes these")
            case .event(let event, let manager, let app):
                told.append((event, manager, app))
                journalLengths.append(journal.count)
            case .discovered(let shared):
                if shared.recipients.count > 1 { sharedDiscoveryCount += 1 }
                for recipient in shared.recipients {
                    told.append((shared.event(for: recipient), recipient.manager, recipient.app))
                    journalLengths.append(journal.count)
                }
            case .process(let action, let app): processActions.append((action, app))
            case .alert(let alert): alerts.append(alert)
            case .alertWithdrawn(let id): withdrawnAlerts.append(id)
            case .log(let message, _): logs.append(message)
            case .journal(let entry):
                if let payload = try? JSONEncoder().encode(entry) { journal += Journal.line([UInt8](payload)) }
            }
        }
        while let event = engine.nextHostEvent() { hostEvents.append(event) }
        // Nobody asks for the journal: what has changed marks itself.
        let isJournalCurrent = engine.withApps(at: world.now) { $0.isJournalCurrent() }
        #expect(isJournalCurrent, "the journal has every change when an input is over")
    }

    // MARK: Station

    var nextDeadline: Instant? { engine.nextDeadline }

    func take(_ input: HostInput, at now: Instant) {
        switch input {
        case .advance: engine.advance(to: now)
        case .transportClosed: engine.transportClosed(at: now)
        case .transportOpened, .packet, .command, .user, .cryptoProvider, .packetsLost, .expectController, .expectReset:
            _ = engine.withHost(at: now) { $0.apply(input, at: now) }
        }
        drain()
    }

    func nextAnswer() -> (question: UInt64, result: CryptoResult)? {
        engine.nextCryptoRequest().map { ($0.id, SwiftCryptoProvider().answer($0.request)) }
    }

    func takePackets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        engine.drainPackets { packets.append($0.copied()) }
        for packet in packets where packet.first == H4PacketType.command.rawValue && packet.count >= 4 {
            let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
            sentCommands.append((opcode, Array(packet[4...])))
        }
        return packets
    }

    func collect(at now: Instant) -> Bool {
        drain()
        return false
    }
}

extension AppLifecycle {
    /// Whether each preserved manager is in the journal as it is.
    mutating func isJournalCurrent() -> Bool {
        for manager in runtime.managers {
            guard let kept = runtime.preserved(manager, &peers.directory) else { continue }
            guard manager.journalEntry(kept) == manager.journaled else { return false }
        }
        return true
    }
}
