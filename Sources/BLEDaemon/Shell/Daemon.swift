@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEAppState
import BLEHost
import BLEPackets
import BLETransport
import Glibc

/// One controller and the programs that share it through a Unix socket. `DaemonCore` has the rules; this gives it what
/// happens, and carries out what follows. Everything runs on the thread of its event loop.
public final class Daemon {
    let configuration: Configuration
    let runner: HostRunner
    var core: DaemonCore
    let journal: JournalFile?
    let programs: Programs
    let acceptor: Acceptor
    let processes: AppProcesses
    var adapter: AdapterFinder
    let reset: DeviceReset
    let care: AdapterCare
    var switches: RadioSwitches?
    /// The device that is expected back after a reset.
    var returning: Returning?
    private(set) var resumption: EventLoop.Deadline
    let traffic: TrafficTap
    let watchdog: Watchdog
    private var deadline: EventLoop.Deadline?
    /// Called once, when the controller has been released.
    public var onStopped: () -> Void = {}

    /// Listens and opens the controller. Call this on the loop or before it starts.
    /// - Throws: the error that prevents listening or reading the bonds. If the controller cannot be opened, the daemon
    ///   tries again later.
    public init(_ configuration: Configuration, on loop: EventLoop) throws {
        var configuration = configuration
        // Whose pairing it is decides how it is done.
        configuration.adapter.security.clients = []
        traffic = TrafficTap(
            next: configuration.capture.map { capture in
                PacketObservers([configuration.adapter.tap, capture.file.observer(of: capture.adapter)])
            } ?? configuration.adapter.tap)
        configuration.adapter.tap = traffic
        self.configuration = configuration
        runner = try Self.runner(configuration, on: loop)
        runner.joinsDiscoveries = true
        runner.handlesEventsFirst = true
        journal = configuration.journalPath.map { JournalFile(path: $0, log: configuration.logError) }
        // The life of apps goes on before the manifests are read for everything else, and logged.
        let installed = configuration.appsFolder.map { InstalledApps(folder: $0) { _ in } } ?? InstalledApps()
        var owners = AppOwners()
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let restored = owners.restored(from: journal, installed)
        programs = Programs(configuration, on: loop)
        core = DaemonCore(
            configuration.wholeRules, on: runner, lookups: programs, seed: seed, restoring: restored, owners)
        acceptor = try Acceptor(configuration, on: loop)
        processes = AppProcesses(configuration, on: loop)
        adapter = AdapterFinder(configuration)
        reset = DeviceReset(configuration.recoveryCommand, on: loop)
        care = AdapterCare(configuration)
        resumption = loop.makeDeadline {}
        watchdog = Watchdog(configuration, runner)
        configuration.log("listening at \(configuration.socketPath)")
        try acceptor.start { [unowned self] in begin($0, $1) }
        deadline = loop.makeDeadline { [unowned self] in input(.advance) }
        processes.news = { [unowned self] in input(.process($0, $1)) }
        processes.unitFailed = { [unowned self] in input(.unitFailed($0)) }
        traffic.onPacket = { [unowned self] in core.apply($0, at: now) }
        watchdog.reportAlive()
        resumption.cancel()
        resumption = loop.makeDeadline { [unowned self] in resume() }
        adapter.watch(runner) { [unowned self] in adapterCame() }
        watchSwitches()
        recognizeControllers()
        if adapter.key != nil { input(.controller(.adapterIs(adapter.key, place: adapter.current?.place))) }
        input(.reload)
        for (app, news) in processes.find(core.apps.installed) { input(.process(app, news)) }
        processes.watchMemory { [unowned self] in input(.memoryIsShort) }
        input(.begun)
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

    /// Changes who may connect, what new clients may have and what apps may send, and reads the manifests of apps again.
    /// Programs that may no longer do what they do are refused.
    public func change(users: Set<UInt32>, operatorGroup: UInt32?, limits: ClientLimits, overflow: OverflowSetting) {
        input(.settings(DaemonChange(users: users, operatorGroup: operatorGroup, limits: limits, overflow: overflow)))
    }

    /// Reads the manifests again. A file that has become wrong changes nothing for its app. An app that is no longer
    /// installed, or has become another user's, ends as one that was quit.
    public func readInstalledApps() { input(.reload) }

    /// Forgets an app that another daemon of the process has removed.
    func forget(_ app: AppID, keepsState: Bool) { input(.appRemoved(app, keepsState: keepsState)) }

    // MARK: Inputs

    var now: Instant { Instant(microseconds: Int64(runner.loop.nowMicroseconds)) }

    /// Something has happened that is no event of the engine.
    func input(_ input: DaemonInput) {
        programs.report(to: &core)
        core.apply(input, at: now)
        settle()
    }

    /// Changes the core, and carries out what follows.
    func withCore<Value>(_ body: (inout DaemonCore) -> Value) -> Value {
        core.now = now
        let value = body(&core)
        core.pump()
        settle()
        return value
    }

    private func settle() {
        carryOut()
        guard !core.isStopped else { return }
        if core.takeUseOfEngine() { runner.settle() }
        plan()
    }

    private func plan() {
        if let next = core.nextDeadline {
            deadline?.set(atMicroseconds: next.positiveMicroseconds)
        } else {
            deadline?.clear()
        }
    }

    /// Handles one event of the engine.
    private func step() -> Bool {
        // The apps get no events about the end, so that the preserved state stays as it is.
        guard !core.isStopped else {
            guard let event = runner.nextEvent() else { return false }
            if event == .stopped { runner.close() }
            return true
        }
        programs.report(to: &core)
        guard core.step(at: now) else {
            plan()
            return false
        }
        carryOut()
        return true
    }

    // MARK: Programs

    private func begin(_ stream: ByteStream, _ peer: PeerCredentials) {
        let id = programs.nextID()
        do throws(TransportError) {
            try stream.start(
                on: runner.loop, receive: { [weak self] bytes in self?.received(bytes, from: id) },
                closed: { [weak self] _ in
                    guard let self else { return }
                    programs.remove(id)
                    input(.closed(id))
                })
        } catch { return configuration.warn("a client could not be served: \(error)") }
        stream.flushed = { [weak self] in
            guard let self else { return }
            programs.wrote(id)
            input(.flushed(id))
        }
        programs.add(stream, id)
        input(.connected(id, peer))
    }

    private func received(_ bytes: RawSpan, from id: ConnectionID) {
        programs.report(to: &core)
        core.receive(bytes, from: id, at: now)
        carryOut()
        plan()
    }

    private func takeTurns() {
        // The loop ends when no work is left.
        guard !core.isStopped else { return }
        repeat { input(.turn) } while core.isInRound
    }

    // MARK: The controller

    private func openController() {
        guard !runner.isOpen else { return }
        care.release()
        do throws(TransportError) {
            if let problem = try findAdapter() { return refuse(problem) }
            try runner.open(.init(step: { [unowned self] in step() }, ended: { [unowned self] in controllerEnded($0) }))
        } catch {
            switch error {
            case .adapterBlocked: refuse("\(error)", isBlocked: true, isGivenBack: true)
            case .system: refuse("\(error)", isGivenBack: true)
            default: refuse("\(error)")
            }
        }
    }

    private func refuse(_ problem: String, isBlocked: Bool = false, isGivenBack: Bool = false) {
        core.apply(.controller(.refused(problem, isBlocked: isBlocked, isGivenBack: isGivenBack)), at: now)
    }

    func findAdapter() throws(TransportError) -> String? {
        let (key, place) = (adapter.key, adapter.current?.place)
        defer {
            if adapter.key != key || adapter.current?.place != place {
                core.apply(.controller(.adapterIs(adapter.key, place: adapter.current?.place)), at: now)
            }
        }
        switch try adapter.find(runner.address) {
        case .found(let address):
            runner.address = address
            return nil
        case .missing(let problem): return problem
        }
    }

    /// The adapter cannot be used at all: if it was only the first of several, the next one is.
    private func takeNextAdapter() {
        guard let next = try? adapter.takeNext() else { return }
        runner.address = .userChannel(adapter: next.index)
        configuration.log("bled takes \(next.name), \(next.text), instead")
        core.apply(.controller(.adapterIs(adapter.key, place: next.place)), at: now)
        core.apply(.controller(.otherAdapter), at: now)
    }

    /// An adapter has been plugged in: if it is this one, it is opened at once; otherwise it is beside this one.
    private func adapterCame() {
        if returning != nil { return resume() }
        if runner.hasTransport { _ = try? findAdapter() }
        input(.controller(.adapterCame))
    }

    private func controllerEnded(_ error: TransportError?) {
        if core.isStopped { finish() } else { input(.controller(.ended(error.map { "\($0)" }))) }
    }

    // MARK: Effects

    private func carryOut() { while let effect = core.nextEffect() { carryOut(effect) } }

    private func carryOut(_ effect: consuming DaemonEffect) {
        switch consume effect {
        case .send(let id, let octets):
            programs.send(octets.span.bytes, to: id)
            core.reuse(octets)
        case .close(let id): programs[id]?.close()
        case .read(let id, let reads): programs[id]?.isReading = reads
        case .planRound: runner.loop.runAfterReady { [weak self] in self?.takeTurns() }
        case .identify(let id, let unit):
            let process = programs[id].flatMap { processes.identify(id, $0, unit: unit) }
            core.apply(.identified(id, process), at: now)
        case .hold(let id, let app): processes.hold(id, as: app)
        case .openController: openController()
        case .closeController: runner.close()
        case .reopenTransport: runner.reopenTransport()
        case .resetDevice: resetDevice()
        case .controllerIsReady: adapterIsUsed()
        case .keep(let experience): keep(experience)
        case .forgetTraits(let id): core.apply(.forgotten(forgetTraits(), by: id), at: now)
        case .takeNextAdapter: takeNextAdapter()
        case .launch(let app, let options): core.apply(.process(app.id, processes.launch(app, options)), at: now)
        case .process(let app, let order):
            if let news = processes.carryOut(order, app) { core.apply(.process(app, news), at: now) }
        case .saveProcesses(let lines): processes.save(lines)
        case .journal(let entry): journal?.append(entry)
        case .readManifests(let before, let reason):
            // The first daemon logs what is wrong with the files.
            let read = InstalledApps(
                folder: configuration.appsFolder ?? "", before: before,
                log: configuration.isFirst ? configuration.warn : { _ in })
            core.apply(.manifests(read, reason), at: now)
        case .install(let file, let peer, let known, let owners, let id):
            core.apply(.installed(appFolder.install(file, for: peer, known, owners), by: id), at: now)
        case .remove(let app, let keepsState, let peer, let known, let owner, let hasState, let id):
            var removal = Removal(app: app, keepsState: keepsState)
            appFolder.remove(&removal, for: peer, known, owner: owner, hasState: hasState)
            if removal.refusal == nil { (removal.process, removal.isKilled) = processes.kill(app) }
            core.apply(.removed(removal, by: id), at: now)
        case .manifestsChanged: configuration.manifestsChanged()
        case .appRemoved(let app, let keepsState): configuration.appRemoved(app, keepsState)
        case .openSocketToOthers: acceptor.openToOthers()
        case .capture(let isOn): traffic.setWanted(isOn)
        case .log(let level, let line): configuration.logged(level, line)
        }
    }

    var appFolder: AppFolder { AppFolder(path: configuration.appsFolder ?? "", isInstalling: configuration.adapters) }

    // MARK: The end

    /// Releases the controller and ends all connections; `onStopped` follows.
    public func stop() {
        guard !core.isStopped else { return }
        acceptor.stop()
        processes.ignoreMemory()
        adapter.stop()
        switches?.cancel()
        reset.cancel()
        returning = nil
        input(.stop)
        guard runner.isOpen else { return finish() }
        runner.settle()
    }

    private func finish() {
        acceptor.cancel()
        deadline?.cancel()
        programs.shutDown()
        resumption.cancel()
        care.release()
        watchdog.stop()
        processes.unwatchAll()
        runner.shutDown()
        onStopped()
    }
}
