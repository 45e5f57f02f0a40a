import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLESecurity
import BLESimulator
import BLETransport
import TestSupport

@testable import BLEDaemon

/// A daemon's core on a virtual air and under its clock, with programs and processes that a test plays.
final class VirtualDaemon: Station {
    let world: World
    let controller: SimulatedControllerID
    private(set) var engine: VirtualEngine
    let machine = VirtualMachine()
    private var core: DaemonCore
    private let rules: DaemonRules
    private let configuration: HostConfiguration
    /// What the journal has.
    private(set) var preserved = PreservedState()
    private(set) var log: [(level: DaemonSettings.LogLevel, line: String)] = []
    private(set) var programs: [VirtualProgram] = []
    private var lastID: UInt32 = 0
    private let folder: ManifestFolder
    /// What each installed app does when it is launched.
    var wishes: [AppID: Wish] = [:]
    /// The processes of installed apps that have been launched, in order.
    private(set) var launched: [VirtualApp] = []
    /// How often the core has been given nothing but time.
    private(set) var advances = 0
    private var endings: [(app: AppID, ending: ProcessEnding)] = []
    /// How long each turn lasts.
    var turn = Microseconds.zero
    private var busyUntil = Instant.zero
    private var isRoundPlanned = false
    private var isCarryingOut = false
    private var isCollecting = false
    /// Whether the controller can be opened.
    var hasController = true
    /// Whether another adapter can be taken.
    var hasNextAdapter = false
    /// How often the device was reset, and what went wrong with that.
    private(set) var resets = 0
    var resetProblem: String?
    /// What was learned of the controller.
    private(set) var kept: [ControllerExperience] = []
    /// Whether log lines are collected.
    var collectsLog = true
    /// Whether packets are wanted.
    private(set) var isCapturing = false

    /// - Parameters:
    ///   - apps: those that are installed.
    ///   - change: of the rules.
    init(
        _ world: World = World(), apps: [Manifest] = [],
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration(),
        _ change: (inout DaemonRules) -> Void = { _ in }
    ) {
        self.world = world
        self.controller = world.air.addController(controller)
        folder = ManifestFolder(apps)
        var rules = DaemonRules()
        rules.users = [1000, 1001, 1002]
        rules.hasAppsFolder = true
        rules.deviceName = "Jelling"
        // As the daemon has them.
        rules.lifecycle.unhandledEventLimit = 256
        rules.lifecycle.unhandledOctetLimit = 64 * 1024
        rules.lifecycle.overflow = .on
        rules.limits.idleSeconds = 0
        change(&rules)
        self.rules = rules
        configuration = HostConfiguration(
            timing: rules.timing, deviceName: rules.deviceName, hasCryptoProvider: true, security: rules.security)
        engine = VirtualEngine(configuration)
        core = DaemonCore(rules, on: engine, lookups: machine, seed: Self.seed)
        world.add(self)
        start()
    }

    private static let seed = [UInt8](repeating: 1, count: 32)

    private func start() {
        input(.reload)
        input(.begun)
        world.settle()
        // It asks the controller for something more when it is ready.
        if hasController { world.run(for: .seconds(1)) }
    }

    /// The daemon is killed with its apps, and a new one begins with what the journal has.
    func restart() {
        for program in programs { program.close() }
        programs = []
        for app in launched where app.isRunning { app.died() }
        engine.close(nil, at: now)
        engine = VirtualEngine(configuration)
        isRoundPlanned = false
        var owners = AppOwners()
        let state = preserved.renamed { owners.identifier($0) }
        core = DaemonCore(rules, on: engine, lookups: machine, seed: Self.seed, restoring: state, owners)
        start()
    }

    var now: Instant { world.now }

    // MARK: Inputs

    /// Something happens to the daemon.
    func input(_ input: DaemonInput) {
        core.apply(input, at: now)
        carryOut()
    }

    /// How far the octets for a program are.
    func report(_ progress: DaemonInput) { core.apply(progress, at: now) }

    /// The daemon stands still while `body` runs; then it finds all that was sent meanwhile at once.
    func whileBusy(_ body: () -> Void) {
        isCollecting = true
        body()
        isCollecting = false
        world.settle()
    }

    /// Reaches what no input does.
    func withCore<Value>(_ body: (inout DaemonCore) -> Value) -> Value { body(&core) }

    /// A program connects and says nothing.
    func connect(user: UInt32 = 0, groups: [UInt32] = [], process: Int32? = nil) -> VirtualProgram {
        lastID += 1
        let id = ConnectionID(rawValue: lastID)
        let peer = PeerCredentials(
            user: user, group: user, process: process ?? machine.newProcess(), otherGroups: groups)
        let program = VirtualProgram(self, id, peer)
        programs.append(program)
        machine.programs[id] = program
        input(.connected(id, peer))
        return program
    }

    /// A tool connects and greets.
    func tool(user: UInt32 = 0, groups: [UInt32] = []) -> VirtualProgram {
        let program = connect(user: user, groups: groups)
        program.send(.hello(Greeting(.tool)))
        return program
    }

    /// An operator connects and greets.
    func person(user: UInt32 = 0, groups: [UInt32] = []) -> VirtualProgram {
        let program = connect(user: user, groups: groups)
        program.send(.hello(Greeting(.operator)))
        return program
    }

    /// The answer to an operator's request.
    @discardableResult
    func operate(_ request: OperatorRequest) -> OperatorAnswer? {
        let program = person()
        program.send(.operatorRequest(request))
        world.run(for: .seconds(5)) { !program.answers.isEmpty || program.isClosed }
        program.leave()
        return program.answers.first
    }

    var status: DaemonStatus { operate(.status)?.status ?? .blank }

    /// An app that is not installed connects.
    func app(_ name: String, user: UInt32 = 0, _ wish: Wish = Wish()) -> VirtualApp {
        VirtualApp(self, AppID(rawValue: name), wish, user: user, process: machine.newProcess(), isInstalled: false)
    }

    /// When the core wants to be given time next.
    var coreDeadline: Instant? { core.nextDeadline }

    /// Forgets the processes that have ended.
    func forgetEnded() { launched.removeAll { !$0.isRunning } }

    /// The running process of an installed app.
    func process(of name: String) -> VirtualApp? { launched.last { $0.id.rawValue == name && $0.isRunning } }

    /// An app's process ends.
    func ended(_ app: AppID, _ ending: ProcessEnding) { endings.append((app, ending)) }

    func write(_ manifest: Manifest) { folder.write(manifest) }
    func delete(_ name: String) { folder.delete(name) }
    func damage(_ name: String) { folder.damage(name) }

    /// The configuration is read again.
    func change(users: Set<UInt32>, operatorGroup: UInt32? = nil, limits: ClientLimits = ClientLimits()) {
        input(
            .settings(
                DaemonChange(users: users, operatorGroup: operatorGroup, limits: limits, overflow: OverflowSetting.on)))
        world.settle()
    }

    /// The controller is pulled out.
    func loseController() {
        hasController = false
        engine.close("the adapter is gone", at: now)
        world.settle()
    }

    /// It is plugged in again.
    func returnController() {
        hasController = true
        input(.controller(.adapterCame))
        world.settle()
    }

    // MARK: Station

    var nextDeadline: Instant? {
        earliest(earliest(engine.host.nextDeadline, core.nextDeadline), isTurnDue ? max(busyUntil, now) : nil)
    }

    private var isTurnDue: Bool { isRoundPlanned || core.isInRound }

    func take(_ input: HostInput, at now: Instant) {
        guard input == .advance else {
            if engine.hasTransport { engine.host.apply(input, at: now) }
            return
        }
        if let due = engine.host.nextDeadline, due <= now { engine.host.advance(to: now) }
        if let due = core.nextDeadline, due <= now {
            advances += 1
            self.input(.advance)
        }
    }

    func nextAnswer() -> (question: UInt64, result: CryptoResult)? {
        engine.host.nextCryptoRequest().map { ($0.id, SwiftCryptoProvider().answer($0.request)) }
    }

    func takePackets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        engine.host.drainPackets { packets.append($0.copied()) }
        return engine.hasTransport ? packets : []
    }

    /// Lets everything happen that happens at once.
    func settle() { if !isCarryingOut, !isCollecting { world.settle() } }

    func collect(at now: Instant) -> Bool {
        guard !isCollecting else { return false }
        isCollecting = true
        defer { isCollecting = false }
        var isBusy = false
        while core.step(at: now) {
            isBusy = true
            carryOut()
        }
        if let end = engine.nextEnd() {
            isBusy = true
            input(.controller(end))
        }
        while let (app, ending) = endings.first {
            isBusy = true
            endings.removeFirst()
            input(.process(app, .ended(ending)))
        }
        for program in programs where program.deliver() { isBusy = true }
        for program in programs where program.isAtEnd || program.isClosed {
            isBusy = true
            programs.removeAll { $0 === program }
            machine.programs[program.id] = nil
            input(.closed(program.id))
        }
        if isTurnDue, busyUntil <= now {
            isBusy = true
            takeTurns()
        }
        return isBusy
    }

    private func takeTurns() {
        repeat {
            isRoundPlanned = false
            input(.turn)
            if turn.rawValue > 0, core.isInRound {
                busyUntil = now.advanced(by: turn)
                return
            }
        } while core.isInRound
    }

    // MARK: Effects

    private func carryOut() {
        // What an effect causes at once is carried out behind it.
        guard !isCarryingOut else { return }
        isCarryingOut = true
        while let effect = core.nextEffect() { carryOut(effect) }
        isCarryingOut = false
    }

    private func carryOut(_ effect: DaemonEffect) {
        switch effect {
        case .send(let id, let octets): machine.programs[id]?.accept(octets)
        case .close(let id): machine.programs[id]?.close()
        case .read(let id, let reads): machine.programs[id]?.isRead = reads
        case .planRound: isRoundPlanned = true
        case .identify(let id, _): input(.identified(id, machine.identify(id)))
        case .openController:
            if hasController {
                engine.open(at: now)
            } else {
                input(.controller(.refused("there is no adapter", isBlocked: false, isGivenBack: false)))
            }
        case .closeController: engine.close(nil, at: now)
        case .reopenTransport: engine.reopen(at: now)
        case .launch(let app, _):
            let process = VirtualApp(
                self, app.id, wishes[app.id] ?? Wish(), user: app.user.id, process: machine.newProcess(),
                isInstalled: true)
            launched.append(process)
            input(.process(app.id, .launched(process.facts)))
            process.begin()
        case .process(let app, let order): process(of: app.rawValue)?.carryOut(order)
        case .journal(let entry): preserved.apply(entry)
        case .readManifests(let before, let reason):
            let apps = InstalledApps(folder: folder.path, before: before) { line in
                self.log.append((.warning, line))
            }
            input(.manifests(apps, reason))
        case .capture(let isOn): isCapturing = isOn
        case .log(let level, let line): if collectsLog { log.append((level, line)) }
        case .resetDevice:
            resets += 1
            if engine.isOpen { engine.reopen(at: now) }
            input(.controller(.resetEnded(resetProblem)))
        case .forgetTraits(let id): input(.forgotten(nil, by: id))
        case .takeNextAdapter:
            if hasNextAdapter { input(.controller(.otherAdapter)) }
        case .keep(let experience): kept.append(experience)
        case .controllerIsReady, .hold, .saveProcesses, .install, .remove, .manifestsChanged, .appRemoved,
            .openSocketToOthers:
            break
        }
    }
}

extension DeviceAddress {
    /// That of the simulator's heart rate sensor.
    static let heart = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
}

extension BluetoothUUID {
    static let heartRate = BluetoothUUID(UInt16(0x180D))
    static let heartRateMeasurement = BluetoothUUID(UInt16(0x2A37))
    /// The long value of the simulator's heart rate sensor.
    static let longValue = BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0002)
}
