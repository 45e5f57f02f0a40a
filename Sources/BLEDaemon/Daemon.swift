@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEAppState
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import Glibc

/// One controller and the programs that share it through a Unix socket: tools, which use the engine's own operations,
/// and apps, whose managers follow the rules of `AppLifecycle`. Everything runs on the thread of its event loop.
///
///     socket ──▶ Connection ──▶ ToolSession ──command──▶ engine ──event──▶ each ToolSession that it concerns
///                          └──▶ AppSession ──request──▶ life of apps ──event──▶ the AppSession of its app
///
/// An event names its operation or its client, or `LinkBook` knows who holds the link, `ToolRoutes` who serves and who
/// owns a channel, and `LinkWatches` who watches a link.
public final class Daemon {
    private(set) var configuration: Configuration
    let loop: EventLoop
    let runner: HostRunner
    let port: EnginePort
    var lifecycle: LifecycleEngine<EnginePort>
    private let journal: JournalFile?
    let listener: UnixListener
    var registration: EventLoop.Registration?
    /// In the order in which they came.
    var connections: [Connection] = [] {
        didSet { programs = connections.reduce(into: [:]) { $0[$1.peer.user, default: 0] += 1 } }
    }
    /// How many connections each user has.
    private(set) var programs: [UInt32: Int] = [:]
    /// The connections by their client numbers as tools, and those of apps by name. Only for lookup.
    var tools: [ClientID: Connection] = [:]
    var running: [AppID: Connection] = [:] { didSet { latestTold = [] } }
    /// The apps that the latest discovery was for.
    var latestTold: [(app: AppID, connection: Connection)] = []
    /// The tools whose operations the engine carries out. Only for lookup.
    var asked: [OperationID: ClientID] = [:]
    var waitingOctets = WaitingOctets()
    /// The programs whose requests wait.
    var line = TurnLine()
    var discoveryEncoder = DiscoveryEncoder()
    /// The connections whose discoveries wait for others, and until when.
    var holding: [Connection] = []
    var holdingDeadline: EventLoop.Deadline?
    var isRoundPlanned = false
    /// When the next busy program takes its turn.
    var busyDeadline: EventLoop.Deadline?
    /// The connections that have something to send.
    private var pending: [Connection] = []
    private var isPumping = false
    /// The last client number of a tool. Tools have numbers above the initial value, managers of apps have lower ones.
    var lastTool: UInt32 = 0x8000_0000
    /// When the log last said that a user may not connect, in microseconds. Only for lookup.
    var refusals: [UInt32: UInt64] = [:]
    /// The names of apps that are not installed, by user: those that run, and those that have left something. Those that
    /// began or ended last come last.
    var knownApps: [UInt32: [AppID]] = [:]
    var installed = InstalledApps()
    var owners: AppOwners
    var hasReadApps = false
    /// The processes of installed apps.
    var processes: [AppID: AppProcess] = [:]
    /// Requests to systemd that have not ended.
    var starting: [AppProcess] = []
    var memoryPressure: MemoryPressure?
    /// Whether each installed app was last in the foreground.
    var places: [AppID: Bool] = [:]
    /// Apps to launch when their current process has ended, unless it connects.
    var wantedLaunches: [AppID: LaunchOptions] = [:]
    /// Apps whose connection has ended, and the time until which their process may take to end, too.
    var dying: [AppID: UInt64] = [:]
    /// Who hears of each pairing in progress, and answers its questions. Only for lookup.
    var partners: [LinkID: [PairingPartner]] = [:]
    private(set) var isReady = false
    private var hasBeenReady = false
    /// Whether operators want Bluetooth to be on, and whether rfkill forbids it.
    var isPowered = true
    private var isBlocked = false
    /// The kernel has taken the adapter to open it, could not, and so reports that it has come: no reason to try again
    /// at once.
    private var wasGivenBack = false
    /// Whether an operator has switched Bluetooth off since it was on.
    var wasSwitched = false
    /// Why the controller cannot be used, for people.
    private(set) var trouble = "the controller starts"
    var isAdvertising = false
    var links = LinkBook()
    var routes = ToolRoutes()
    var watches = LinkWatches()
    /// The channels that operators' tools have chosen; the last one holds.
    var channelMaps: [(client: ClientID, map: ChannelMap)] = []
    /// For whom the engine knows its clients to work. Only for lookup.
    var users: [ClientID: ClientUser] = [:]
    var outOfBandUses: [OutOfBandUse] = []
    var namings = NamingLimit()
    /// How many advertising sets the controller has, and the operation that asks for it.
    var advertisingSetCount: Int?
    var setCountRequest: OperationID?
    /// Alerts that no operator has answered.
    var alerts = WaitingAlerts()
    let traffic = TrafficTap()
    var keyMask = KeyMask()
    /// Whether frames with packets wait for the end of the current work.
    var isTrafficWaiting = false
    private(set) var isStopping = false
    var greetings: EventLoop.Deadline?
    private var deadline: EventLoop.Deadline?
    private var reopening: EventLoop.Deadline?
    var processDeadline: EventLoop.Deadline?
    private var aliveDeadline: EventLoop.Deadline?
    /// When no bond was being saved, as far as it was last seen, in microseconds.
    private var keptAt = EventLoop.nowMicroseconds
    var accepting: EventLoop.Deadline?
    /// Called once, when the controller has been released.
    public var onStopped: () -> Void = {}

    /// The pause before the daemon tries to open a lost controller again: each one is twice as long as the one before.
    private static let shortestReopening: UInt64 = 250_000
    private static let longestReopening: UInt64 = 4_000_000
    private var reopeningPause = Daemon.shortestReopening
    /// The address of the kernel's adapter, by which it is found again under another index.
    var adapterAddress: DeviceAddress? {
        didSet { if let adapterAddress { configuration.adapters.add(adapterAddress.addressText) } }
    }
    /// When the log says which adapters of manifests are not there.
    var absence: EventLoop.Deadline?
    /// Those that it has named.
    var toldAbsent: Set<String> = []
    var arrivals: AdapterArrivals?
    var neighbours = AdapterNeighbours()
    /// Why the controller could not be opened, as the log says it.
    private var complaint: String?

    /// Listens and opens the controller. Call this on the loop or before it starts.
    /// - Throws: the error that prevents listening or reading the bonds. If the controller cannot be opened, the daemon
    ///   tries again later.
    public init(_ configuration: Configuration, on loop: EventLoop) throws {
        var configuration = configuration
        // Whose pairing it is decides how it is done.
        configuration.adapter.security.clients = []
        traffic.next =
            configuration.capture.map { capture in
                PacketObservers([configuration.adapter.tap, capture.file.observer(of: capture.adapter)])
            } ?? configuration.adapter.tap
        configuration.adapter.tap = traffic
        self.configuration = configuration
        self.loop = loop
        runner = try Self.runner(configuration, on: loop)
        runner.joinsDiscoveries = true
        port = EnginePort(runner)
        let journal = configuration.journalPath.map { JournalFile(path: $0, log: configuration.logError) }
        self.journal = journal
        // The life of apps goes on before the manifests are read for everything else, and logged.
        let installed = configuration.appsFolder.map { InstalledApps(folder: $0) { _ in } } ?? InstalledApps()
        var owners = AppOwners()
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        configuration.lifecycle.limit(configuration.limits)
        let restored = owners.restored(from: journal, installed)
        lifecycle = LifecycleEngine(on: port, settings: configuration.lifecycle, seed: seed, restoring: restored)
        self.owners = owners
        knownApps = AppOwners.uninstalled(in: restored)
        listener =
            try configuration.listeningSocket.map { UnixListener(descriptor: $0) }
            ?? Self.listen(configuration)
        configuration.log("listening at \(configuration.socketPath)")
        registration = try loop.register(listener.descriptor, for: .readable) { [unowned self] _ in accept() }
        greetings = loop.makeDeadline { [unowned self] in endSilentClients() }
        deadline = loop.makeDeadline { [unowned self] in advance() }
        reopening = loop.makeDeadline { [unowned self] in openController() }
        accepting = loop.makeDeadline { [unowned self] in registration?.setInterest(.readable) }
        processDeadline = loop.makeDeadline { [unowned self] in advanceProcesses() }
        aliveDeadline = loop.makeDeadline { [unowned self] in tellAlive() }
        busyDeadline = loop.makeDeadline { [unowned self] in planRound() }
        holdingDeadline = loop.makeDeadline { [unowned self] in sendHeld() }
        traffic.onPacket = { [unowned self] in show($0, $1, $2) }
        absence = loop.makeDeadline { [unowned self] in logAbsentAdapters() }
        if configuration.isNamedByTransport { configuration.adapters.add("\(configuration.transport)") }
        tellAlive()
        adapterAddress = configuration.adapterAddress
        // Observers do not see what an initializer sets.
        if let adapterAddress { configuration.adapters.add(adapterAddress.addressText) }
        if configuration.takesFirstAdapter {
            configuration.adapters.awaitsFirst()
        } else if adapterAddress == nil, case .userChannel(let index) = configuration.transport {
            configuration.adapters.awaits(index)
        }
        watchAdapters()
        readInstalledApps()
        findProcesses()
        watchMemory()
        let (bonds, now) = (runner.bonds, now)
        lifecycle.withApps(at: now) { $0.restored(bonds) }
        forgetUninstalledApps()
        for app in installed.all { nameUser(of: app.id) }
        for app in knownApps.values.joined() { nameUser(of: app) }
        openController()
    }

    /// The engine; without its bonds if their place cannot be used, such as a full disk, because the rest works
    /// without it.
    private static func runner(_ configuration: Configuration, on loop: EventLoop) throws -> HostRunner {
        do throws(BondStoreError) {
            return try HostRunner(configuration.transport, configuration: configuration.adapter, loop: loop)
        } catch {
            var adapter = configuration.adapter
            adapter.bondStore = nil
            configuration.logError(
                "\(error). Until the next start, bonds are kept in memory, and earlier ones are missing")
            return try HostRunner(configuration.transport, configuration: adapter, loop: loop)
        }
    }

    private func tellAlive() {
        guard let interval = configuration.aliveMicroseconds else { return }
        let now = loop.nowMicroseconds
        if !runner.isKeepingBond { keptAt = now }
        // While a bond is being saved, no events come: a disk that hangs stops every program.
        if now - keptAt < configuration.savingMicroseconds { configuration.alive() }
        aliveDeadline?.set(atMicroseconds: loop.nowMicroseconds + interval)
    }

    /// Changes who may connect, what new clients may have and what apps may send, and reads the manifests of apps again.
    /// Programs that may no longer do what they do are refused.
    public func change(
        users: Set<UInt32>, operatorGroup: UInt32?, limits: ClientLimits, overflow: OverflowSetting
    ) {
        configuration.users = users
        configuration.operatorGroup = operatorGroup
        configuration.limits = limits
        let before = configuration.overflow
        configuration.overflow = overflow
        let (now, shared) = (now, configuration.overflow)
        lifecycle.withApps(at: now) { apps in
            apps.settings.limit(limits)
            apps.setOverflow(shared, at: now)
        }
        readInstalledApps()
        if shared != before { for app in installed.all { warnOfOverflow(app) } }
    }

    /// Each connection is checked; the file only decides who can ask.
    func openSocketToOthers() {
        let isForOthers =
            !configuration.users.union(installed.users).isSubset(of: [0, geteuid()])
            || configuration.operatorGroup != nil
        guard configuration.listeningSocket == nil, isForOthers, !listener.setMode(0o666) else { return }
        configuration.warn(
            "‘\(configuration.socketPath)’ is not the socket of this daemon any more, so other users cannot connect; "
                + "check who may write in its folder, and restart bled")
    }

    var now: Instant { Instant(microseconds: Int64(loop.nowMicroseconds)) }

    // MARK: The controller

    func openController() {
        guard !runner.isOpen, isPowered else { return }
        wasGivenBack = false
        do throws(TransportError) {
            if let problem = try findAdapter() { return controllerIsLost(problem) }
            try runner.open(
                .init(step: { [unowned self] in step() }, ended: { [unowned self] in controllerEnded($0) }))
        } catch {
            switch error {
            case .adapterBlocked: (isBlocked, wasGivenBack) = (true, true)
            case .system: wasGivenBack = true
            default: break
            }
            controllerIsLost("\(error)")
        }
    }

    /// An adapter has been plugged in: if it is this one, it is opened at once; otherwise it is beside this one.
    func adapterCame() {
        if runner.isOpen { _ = try? findAdapter() }
        guard !wasGivenBack else { return }
        reopeningPause = Self.shortestReopening
        if !isStopping { openController() }
    }

    func controllerIsReady(_ information: ControllerInformation) {
        // It was switched off meanwhile.
        guard isPowered else { return }
        isReady = true
        hasBeenReady = true
        reopeningPause = Self.shortestReopening
        complaint = nil
        configuration.debug("the controller is ready")
        askForAdvertisingSets(information)
        let hasStated = connections.contains { $0.pairing != nil }
        if hasStated || installed.all.contains(where: { !$0.mayPair }) { setPairing() }
        // Clients that have sent their greeting wait for this.
        for connection in connections where connection.isTool { look(at: connection) }
        for connection in connections where connection.isLaunched {
            connection.app?.controllerIsReady(isExtended: information.usesExtendedCommands)
            look(at: connection)
        }
        guard isBlocked || wasSwitched else { return }
        let (now, byUser) = (now, wasSwitched)
        (isBlocked, wasSwitched) = (false, false)
        lifecycle.withApps(at: now) { $0.setPower(true, byUser: byUser, at: now) }
    }

    private func controllerEnded(_ error: TransportError?) {
        guard !isStopping else { return finish() }
        controllerIsLost(isPowered ? error.map { "\($0)" } ?? "the controller was closed" : Self.powerIsOff)
    }

    func controllerIsLost(_ reason: String) {
        let (wasReady, now) = (isReady, now)
        isReady = false
        isAdvertising = false
        trouble = reason
        if complaint != reason { configuration.warn("no controller: \(reason)") }
        complaint = reason
        for connection in connections where connection.isTool {
            connection.tool.controllerIsLost(reason)
            look(at: connection)
        }
        lifecycle.withApps(at: now) { apps in
            if !isPowered || isBlocked { apps.setPower(false, byUser: !isPowered, at: now) }
            if wasReady {
                apps.transportClosed(at: now)
            } else if !hasBeenReady, isPowered, !isBlocked {
                // Only an adapter that was never there is unsupported: one that is lost is waited for.
                apps.transportFailed(at: now)
            }
        }
        if isPowered {
            reopening?.set(atMicroseconds: loop.nowMicroseconds + reopeningPause)
            reopeningPause = min(2 * reopeningPause, Self.longestReopening)
        } else {
            reopening?.clear()
        }
        pump()
    }

    /// Releases the controller and ends all connections; `onStopped` follows.
    public func stop() {
        guard !isStopping else { return }
        isStopping = true
        registration?.cancel()
        memoryPressure?.cancel()
        arrivals?.cancel()
        listener.close()
        for connection in connections { connection.stream.close() }
        connections = []
        // Nothing else would resume them.
        for (_, process) in processes where process.isStopped { process.resume() }
        guard runner.isOpen else { return finish() }
        _ = runner.submit(.stop)
        runner.settle()
    }

    private func finish() {
        for deadline in [
            greetings, deadline, reopening, accepting, processDeadline, aliveDeadline, holdingDeadline, busyDeadline,
            absence,
        ] {
            deadline?.cancel()
        }
        // They outlive the loop, in which nothing may be cancelled afterwards.
        for process in Array(processes.values) + starting { process.unwatch() }
        runner.shutDown()
        onStopped()
    }

    // MARK: Steps

    private func step() -> Bool {
        // The apps get no events about the end, so that the preserved state stays as it is.
        guard !isStopping else {
            guard let event = runner.nextEvent() else { return false }
            if event == .stopped { runner.close() }
            return true
        }
        guard lifecycle.step(at: now) else {
            arm()
            return false
        }
        carryOut()
        return true
    }

    private func advance() {
        lifecycle.advance(to: now)
        pump()
    }

    /// Notes that this program may have something to do or to send.
    func look(at connection: Connection) {
        guard !connection.isPending else { return }
        connection.isPending = true
        pending.append(connection)
    }

    /// Carries out what programs and apps want after an input that did not come from the engine.
    func pump() {
        guard !isPumping, !isStopping else { return }
        carryOut()
        runner.settle()
        arm()
    }

    private func arm() {
        if let next = lifecycle.nextDeadline {
            deadline?.set(atMicroseconds: UInt64(max(0, next.microseconds)))
        } else {
            deadline?.clear()
        }
    }

    /// Repeats this until there is nothing left to do.
    private func carryOut() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        repeat {
            drain()
            let now = pending
            pending = []
            for connection in now {
                connection.isPending = false
                carryOut(connection)
            }
            if pending.isEmpty { drain() }
        } while !pending.isEmpty
    }

    /// Delivers the events of the engine and of the life of apps.
    func drain() {
        while true {
            while let output = lifecycle.nextOutput() { carryOut(output) }
            while lifecycle.nextHostEvent() != nil {}
            guard let event = port.told.popFirst() else { return }
            hear(event)
        }
    }

    private func carryOut(_ output: LifecycleOutput) {
        switch output {
        case .submit: break  // the engine handles these
        case .event(let event, let manager, let app): tell(event, to: manager, of: app)
        case .discovered(let shared): tell(shared)
        case .process(let action, let app): carryOut(action, app)
        case .alert(let alert): show(alert)
        case .alertWithdrawn(let id): withdraw(id)
        case .log(let message, let app): withApp(app) { $0.note(message.text) }
        case .journal(let entry): journal?.append(entry.renamed(owners.journalName))
        }
    }
}
