import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport

/// The rules of the daemon as a value without I/O: inputs and their time go in, effects come out. One controller and the
/// programs that share it: tools, which use the engine's own operations, and apps, whose managers follow the rules of
/// `AppLifecycle`.
///
///     octets ──▶ Connection ──▶ ToolSession ──command──▶ engine ──event──▶ each ToolSession that it concerns
///                          └──▶ AppSession ──request──▶ life of apps ──event──▶ the AppSession of its app
///
/// An event names its operation or its client, or `LinkBook` knows who uses the link, `ToolRoutes` who serves and who
/// owns a channel, and `LinkWatches` who watches a link.
///
/// The owner applies an input, carries out the effects, and answers those that ask for something with inputs. The same
/// inputs at the same times have the same effects, with an engine and lookups that give the same answers.
package struct DaemonCore: ~Copyable {
    var rules: DaemonRules
    let port: EnginePort
    let lookups: any DaemonLookups
    /// The time of the latest input.
    var now = Instant(microseconds: 0)
    var effects = Queue<DaemonEffect>()
    var connections = Connections()
    var admission = Admission()
    var turns = Turns()
    var controller: ControllerDesk
    var tools = ToolHouse()
    var apps: AppHouse
    var processes = ProcessKeeper()
    var operators = OperatorDesk()
    var pairing = PairingDesk()
    var outgoing = Outgoing()
    private var activity = Activity.idle

    private enum Activity { case idle, working, stopped }

    /// - Parameters:
    ///   - engine: accepts commands and has events.
    ///   - lookups: answers what the core asks about the machine.
    ///   - seed: 32 octets of entropy, different at each start.
    ///   - state: what the journal has of the apps.
    ///   - owners: the users of the apps in it.
    package init(
        _ rules: DaemonRules, on engine: any DaemonEngine, lookups: any DaemonLookups, seed: [UInt8],
        restoring state: PreservedState = PreservedState(), _ owners: AppOwners = AppOwners()
    ) {
        self.rules = rules
        self.rules.lifecycle.limit(rules.limits)
        self.lookups = lookups
        port = EnginePort(engine)
        controller = ControllerDesk(key: rules.adapterKey)
        apps = AppHouse(
            LifecycleEngine(on: port, settings: self.rules.lifecycle, seed: seed, restoring: state), owners,
            known: AppOwners.uninstalled(in: state))
    }

    // MARK: Inputs

    /// Something has happened at a time. Afterwards, fetch the effects.
    package mutating func apply(_ input: DaemonInput, at now: Instant) {
        guard activity != .stopped else { return }
        self.now = now
        switch input {
        case .begun: begin()
        case .connected(let id, let peer): connected(id, peer)
        case .received(let id, let octets): return receive(octets.span.bytes, from: id, at: now)
        case .wrote(let id, let taken, let refused, let waiting):
            connections[id]?.outbox.wrote(taken: taken, refused: refused, waiting: waiting)
            return
        case .flushed(let id): if let connection = connections[id] { lineUp(connection) }
        case .closed(let id): closed(id)
        case .turn: takeTurn()
        case .engine:
            _ = step(at: now)
            return
        case .controller(let news): receive(news)
        case .process(let app, let news): receive(news, of: app)
        case .unitFailed(let text): warn(text)
        case .identified(let id, let process): identified(id, process)
        case .manifests(let read, let reason): manifestsAreRead(read, reason)
        case .installed(let installation, let id): installed(installation, by: id)
        case .removed(let removal, let id): removed(removal, by: id)
        case .forgotten(let problem, let id): complete(answer(problem), for: id)
        case .appRemoved(let app, let keepsState): readManifests(.removedElsewhere(app, keepsState: keepsState))
        case .reload: readManifests(.reload)
        case .settings(let change): self.change(change)
        case .packet(let octets, let isFromController, let time):
            show(octets, isFromController: isFromController, unixMicroseconds: time)
        case .memoryIsShort: memoryIsShort()
        case .advance: advance()
        case .stop: return stop()
        }
        pump()
    }

    /// A program has sent octets.
    package mutating func receive(_ octets: RawSpan, from id: ConnectionID, at now: Instant) {
        guard activity != .stopped, let connection = connections[id] else { return }
        self.now = now
        connection.receive(octets)
        lineUp(connection)
        if connections.hasPending { pump() }
    }

    /// Handles one event of the engine.
    /// - Returns: whether there was one.
    package mutating func step(at now: Instant) -> Bool {
        guard activity != .stopped else { return false }
        self.now = now
        guard apps.lifecycle.step(at: now) else { return false }
        pump()
        return true
    }

    // MARK: Effects

    /// What to do next; `nil` if there is nothing.
    package mutating func nextEffect() -> DaemonEffect? { effects.popFirst() }

    /// The octets of `DaemonEffect.send` have been sent, and their room can be used again.
    package mutating func reuse(_ octets: consuming [UInt8]) { outgoing.reuse(octets) }

    /// When to apply `advance`, unless another input comes first.
    package var nextDeadline: Instant? {
        var next = apps.lifecycle.nextDeadline?.positiveMicroseconds ?? .max
        next = min(next, admission.deadline ?? .max, turns.deadline ?? .max, controller.deadline ?? .max)
        next = min(next, apps.absenceDeadline ?? .max, processes.deadline ?? .max, operators.deadline ?? .max)
        next = min(next, outgoing.deadline ?? .max)
        return next == .max ? nil : Instant(microseconds: Int64(clamping: next))
    }

    /// Whether something was asked of the engine since the last call: it may have events and packets then.
    package mutating func takeUseOfEngine() -> Bool {
        defer { port.isUsed = false }
        return port.isUsed
    }

    /// Whether `stop` was applied: nothing has an effect any more.
    package var isStopped: Bool { activity == .stopped }

    /// Whether the next input is `turn`.
    package var isInRound: Bool { turns.isInRound }

    // MARK: Work

    var microseconds: UInt64 { now.positiveMicroseconds }

    private mutating func begin() {
        let bonds = port.engine.bonds
        apps.lifecycle.withApps(at: now) { $0.restored(bonds) }
        forgetUninstalledApps()
        for app in apps.installed.all { nameUser(of: app.id) }
        for user in apps.known.keys.sorted() { for app in apps.known[user] ?? [] { nameUser(of: app) } }
        openController()
    }

    private mutating func advance() {
        let time = microseconds
        if let due = apps.lifecycle.nextDeadline, due <= now { apps.lifecycle.advance(to: now) }
        if admission.deadline.isDue(at: time) { endSilentClients() }
        if turns.deadline.isDue(at: time) { planRound() }
        if controller.deadline.isDue(at: time) { openController() }
        if apps.absenceDeadline.isDue(at: time) { logAbsentAdapters() }
        // The processes still run without a connection.
        if processes.deadline.isDue(at: time) { for id in processes.overdue(at: time) { ended(id, .crashed) } }
        if operators.deadline.isDue(at: time) { sendTraffic() }
        outgoing.advance(to: time, into: &effects)
    }

    /// Ends all connections and asks the engine to end.
    private mutating func stop() {
        activity = .stopped
        for connection in connections.all { effects.append(.close(connection.id)) }
        connections.removeAll()
        // Nothing else would resume them.
        for id in processes.stopped { effects.append(.process(id, .resume)) }
        if port.engine.isOpen { _ = submit(.stop) }
    }

    func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        port.submit(command, from: client, at: now)
    }

    /// Notes that this program may have something to do or to send.
    mutating func look(at connection: Connection) { connections.look(at: connection) }

    /// Carries out what programs and apps want, until there is nothing left to do.
    mutating func pump() {
        guard activity == .idle else { return }
        activity = .working
        defer { activity = .idle }
        repeat {
            drain()
            for connection in connections.takePending() {
                connection.isPending = false
                carryOut(connection)
            }
            if !connections.hasPending { drain() }
        } while connections.hasPending
    }

    /// Delivers the events of the engine and of the life of apps.
    mutating func drain() {
        while true {
            while let output = apps.lifecycle.nextOutput() { carryOut(output) }
            while apps.lifecycle.nextHostEvent() != nil {}
            guard let event = port.unhandled.popFirst() else { return }
            handle(event)
        }
    }

    private mutating func carryOut(_ output: LifecycleOutput) {
        switch output {
        case .submit: break  // the engine handles these
        case .event(let event, let manager, let app): send(event, to: manager, of: app)
        case .discovered(let shared): send(shared)
        case .process(let action, let app): carryOut(action, app)
        case .alert(let alert): show(alert)
        case .alertWithdrawn(let id): withdraw(id)
        case .log(let message, let app): withApp(app) { $0.note(message.text) }
        case .journal(let entry):
            let owners = apps.owners
            effects.append(.journal(entry.renamed { owners.journalName(of: $0) }))
        }
    }

    // MARK: The log

    mutating func log(_ line: String) { effects.append(.log(.info, line)) }
    /// For what people may have to look after.
    mutating func notice(_ line: String) { effects.append(.log(.notice, line)) }
    /// For what does not work.
    mutating func warn(_ line: String) { effects.append(.log(.warning, line)) }
    /// For what will be lost.
    mutating func logError(_ line: String) { effects.append(.log(.error, line)) }

    var isDebugging: Bool { lookups.isLogged(.debug) }
    mutating func debug(_ line: String) { effects.append(.log(.debug, line)) }
}

extension Instant { var positiveMicroseconds: UInt64 { UInt64(max(0, microseconds)) } }

extension UInt64? {
    /// Whether this is a deadline that has come.
    func isDue(at now: UInt64) -> Bool { map { $0 <= now } ?? false }
}
