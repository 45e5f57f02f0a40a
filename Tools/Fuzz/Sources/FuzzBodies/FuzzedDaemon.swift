import BLEAppLifecycle
import BLEDaemon
import BLEHost
import BLEMessages
import BLEPackets

/// A daemon's core over a fuzzed engine, with two tools, the second of them an operator's, an app and an operator.
struct FuzzedDaemon: ~Copyable {
    static let kinds: [(kind: SessionKind, isOperator: Bool)] = [
        (.tool, false), (.tool, true), (.app, false), (.operator, true),
    ]
    static let limits = ClientLimits()

    let engine: FuzzedEngine
    private var core: DaemonCore
    private(set) var now = Instant(microseconds: 1_000_000)
    private var lastID: UInt32 = 0
    private var isRoundPlanned = false
    private var found: String?

    init(_ choice: UInt8) {
        engine = FuzzedEngine(choice)
        var rules = DaemonRules()
        rules.users = [1000]
        rules.limits = Self.limits
        core = DaemonCore(rules, on: engine, lookups: engine, seed: (0..<32).map { UInt8($0) })
        apply(.reload)
        apply(.begun)
        settle()
        for place in Self.kinds.indices { connect(place) }
    }

    /// What is wrong with what it has done.
    var violation: String? { found ?? engine.violation }

    /// The program of a place comes, in place of an earlier one.
    mutating func connect(_ place: Int) {
        let (kind, isOperator) = Self.kinds[place]
        lastID += 1
        let program = FuzzedProgram(ConnectionID(rawValue: lastID), kind, isOperator: isOperator)
        if place < engine.programs.count { engine.programs[place] = program } else { engine.programs.append(program) }
        apply(.connected(program.id, program.peer))
        send(program.greeting.framed(), from: place)
        guard kind == .app else { return settle() }
        // With a manager of each kind.
        for (number, request) in [ClientRequest.createCentral(.init()), .createPeripheral(.init())].enumerated() {
            let manager = ManagerID(rawValue: UInt32(number + 1))
            send(FromClient.appRequest(AppRequest(request, from: manager)).framed(), from: place)
        }
        settle()
    }

    mutating func send(_ octets: [UInt8], from place: Int) {
        apply(.received(engine.programs[place].id, octets))
    }

    /// Lets time pass, with all that is due before its end.
    mutating func advance(by microseconds: Int64) {
        let end = Instant(microseconds: now.microseconds + microseconds)
        var rounds = 0
        while let due = core.nextDeadline, due <= end, rounds < 10_000 {
            rounds += 1
            now = max(now, due)
            apply(.advance)
            settle()
            if let next = core.nextDeadline, next <= now { found = "time is asked for although nothing is due" }
            guard violation == nil else { return }
        }
        now = end
        engine.advance(to: now)
    }

    mutating func apply(_ input: DaemonInput) {
        core.apply(input, at: now)
        while let effect = core.nextEffect() { carryOut(effect) }
    }

    private mutating func carryOut(_ effect: DaemonEffect) {
        switch effect {
        case .send(let id, let octets):
            guard let place = engine.programs.firstIndex(where: { $0.id == id }) else { return }
            found = found ?? engine.programs[place].receive(octets)
            core.apply(engine.programs[place].progress(), at: now)
        case .close(let id):
            for place in engine.programs.indices where engine.programs[place].id == id {
                engine.programs[place].close()
            }
        case .planRound: isRoundPlanned = true
        case .openController: engine.openTransport(at: now)
        case .closeController: engine.closeTransport(at: now)
        case .reopenTransport:
            engine.closeTransport(at: now)
            engine.openTransport(at: now)
        case .readManifests(_, let reason): core.apply(.manifests(InstalledApps(), reason), at: now)
        default: break
        }
    }

    /// Lets everything happen that happens at once.
    mutating func settle() {
        var isBusy = true
        while isBusy, violation == nil {
            isBusy = engine.exchange(at: now)
            while core.step(at: now) {
                isBusy = true
                while let effect = core.nextEffect() { carryOut(effect) }
            }
            if engine.hasEnded() {
                isBusy = true
                apply(.controller(.ended("gone")))
            }
            for program in engine.programs where program.isClosed {
                // The place stays empty until it connects again.
                apply(.closed(program.id))
            }
            while isRoundPlanned || core.isInRound {
                isBusy = true
                isRoundPlanned = false
                apply(.turn)
            }
            let most = 2 * Self.limits.requests + 16
            for program in engine.programs where program.kind == .tool && engine.count(of: program.id.client) > most {
                found = "more requests than the limit"
            }
        }
    }
}
