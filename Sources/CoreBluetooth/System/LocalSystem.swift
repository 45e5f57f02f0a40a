@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEAppState
import BLEMessages
import BLEText
import Foundation

/// The system in this process: the engine on an adapter, and the life cycle of the one app that runs here.
///
/// It runs on the adapter's own thread. Only values go in and out, as between this process and a daemon.
actor LocalSystem: BluetoothSystem {
    /// The limit of unhandled events of one manager, and of their octets.
    private static let unhandledEventLimit = 1024
    private static let unhandledOctetLimit = 1 << 19
    /// How long to wait after a failure before opening the transport again, in seconds.
    private static let reopenSeconds: UInt64 = 5

    nonisolated private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated private let sinks = Locked(ManagerSinks())
    nonisolated private let configuration: Configuration
    nonisolated let app: AppID
    nonisolated private let journal: JournalFile?
    nonisolated let tasks = BackgroundTasks()

    /// The apps on the runner's engine. The tests of `BLEAppLifecycle` use the same type with an engine of their own.
    var engine: LifecycleEngine<RunnerPort>
    /// Set as soon as the transport is known.
    private let port = RunnerPort()
    var runner: HostRunner? { port.runner }
    var security: SecuritySettings
    var pairingAgent: (any CBPairingAgent)?
    var pairingState = AdapterSecurity()
    var pairingPartners: [LinkID: PairingPartner] = [:]
    private var deadline: EventLoop.Deadline?
    private var retry: EventLoop.Deadline?
    /// The answer to the current query.
    private var answer: ClientEvent?
    /// Whether the app's time is limited, as far as the sinks know it.
    private var isLimited = false
    private var isClosed = false
    private var complaint: String?
    private var hasBeenOpen = false
    private var onStopped: (() -> Void)?

    init(_ configuration: Configuration) {
        self.configuration = configuration
        app = AppID(rawValue: configuration.environment.identifier)
        sinks.with { $0.overflow = configuration.environment.overflow }
        let journal = configuration.journalPath.map {
            JournalFile(path: $0, log: configuration.log ?? { MisuseLog.write($0) })
        }
        self.journal = journal
        security = configuration.adapter.security
        pairingAgent = configuration.pairingAgent
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var settings = configuration.settings
        // This process keeps running whatever is decided: if the machine ended it, it could never receive events again.
        settings.strikeLimit = .max
        // The machine cannot take back what waits on the app's queue: deliver only what the app is about to handle.
        settings.unhandledEventLimit = min(settings.unhandledEventLimit, Self.unhandledEventLimit)
        settings.unhandledOctetLimit = min(settings.unhandledOctetLimit, Self.unhandledOctetLimit)
        engine = LifecycleEngine(on: port, settings: settings, seed: seed, restoring: journal?.read() ?? .init())
        if let given = configuration.loop {
            loop = given
            return
        }
        do throws(TransportError) {
            loop = try EventLoop(name: "jelling")
            try loop.start()
        } catch {
            // Fails only without memory or file descriptors for one thread; Apple's manager initializers cannot fail.
            fatalError("Core Bluetooth cannot start its thread: \(error)")
        }
    }

    // MARK: Managers

    nonisolated func attach(_ deliver: @escaping @Sendable (ClientEvent) -> Void) -> ManagerID {
        let (id, isFirst) = sinks.with { sinks in
            sinks.lastManager += 1
            let id = ManagerID(rawValue: sinks.lastManager)
            sinks.managers[id] = ManagerSink(deliver: deliver)
            defer { sinks.hasStarted = true }
            return (id, !sinks.hasStarted)
        }
        if isFirst { onLoop { $0.start() } }
        return id
    }

    nonisolated func detach(_ manager: ManagerID) {
        sinks.with { $0.managers[manager] = nil }
        onLoop { if !$0.isClosed { $0.pump() } }
    }

    nonisolated func handled(_ event: ClientEvent, by manager: ManagerID) {
        let octets = event.approximateOctets
        let (isDone, isAwaited) = sinks.with { sinks in
            let hasRoom = sinks.managers[manager]?.handle(octets: octets) ?? false
            return (sinks.isWoken && sinks.managers[manager]?.isNewlyIdle == true, hasRoom)
        }
        guard isDone || isAwaited else { return }
        onLoop { system in
            guard !system.isClosed else { return }
            system.takeReturned(of: manager)
            system.pump()
        }
    }

    nonisolated func send(_ request: ClientRequest, from manager: ManagerID) {
        onLoop { $0.receive(request, from: manager) }
    }

    nonisolated func sendAndWait(_ request: ClientRequest, from manager: ManagerID) {
        let done = DispatchSemaphore(value: 0)
        onLoop { system in
            system.receive(request, from: manager)
            done.signal()
        }
        done.wait()
    }

    nonisolated func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent? {
        let query = sinks.with { sinks in
            sinks.lastQuery &+= 1
            return QueryID(rawValue: sinks.lastQuery)
        }
        let request = make(query)
        let done = DispatchSemaphore(value: 0)
        let answer = Locked<ClientEvent?>(nil)
        onLoop { system in
            system.answer = nil
            system.receive(request, from: manager)
            answer.with { $0 = system.answer }
            done.signal()
        }
        done.wait()
        return answer.current
    }

    nonisolated func log(_ message: LogMessage) { write(message.text) }

    nonisolated func write(_ line: String) {
        if let log = configuration.log { return log(line) }
        MisuseLog.write(line)
    }

    nonisolated var authorization: ManagerAuthorization { configuration.environment.authorization }
    nonisolated var features: CBCentralManager.Feature { sinks.with { $0.features } }

    // MARK: The app

    nonisolated func move(_ move: AppMove) {
        onLoop { system in
            guard !system.isClosed else { return }
            let now = system.now
            let app = system.app
            system.engine.withApps(at: now) { apps in
                switch move {
                case .foreground: apps.enterForeground(app, at: now)
                case .background: apps.enterBackground(app, at: now)
                case .suspended: apps.finished(app, at: now)
                }
            }
            system.pump()
        }
    }

    nonisolated var launchOptions: LaunchOptions { sinks.with { $0.launchOptions } }
    nonisolated func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?) { sinks.with { $0.onAlert = body } }
    nonisolated func onExpiration(_ body: (@Sendable () -> Void)?) { sinks.with { $0.onExpiration = body } }
    nonisolated var overflow: OverflowSetting? { sinks.with { $0.overflow } }
    nonisolated func setOverflow(_ setting: OverflowSetting) { sinks.with { $0.overflow = setting } }

    nonisolated func tasksChanged(to count: Int) {
        onLoop { system in
            guard !system.isClosed else { return }
            let (now, app) = (system.now, system.app)
            system.engine.withApps(at: now) { $0.setTasks(count, of: app, at: now) }
            system.pump()
        }
    }

    nonisolated var secondsLeft: Double? {
        let now = loop.nowMicroseconds
        return sinks.with { $0.end }.map { $0 > now ? Double($0 - now) / 1_000_000 : 0 }
    }

    // MARK: The loop

    nonisolated func onLoop(_ body: @escaping @Sendable (isolated LocalSystem) -> Void) {
        loop.run { self.assumeIsolated { body($0) } }
    }

    var now: Instant { Instant(microseconds: Int64(loop.nowMicroseconds)) }

    private func start() {
        deadline = loop.makeDeadline { self.advance() }
        retry = loop.makeDeadline { self.open() }
        let (now, environment, app) = (now, configuration.environment, app)
        engine.withApps(at: now) { apps in
            apps.declare(environment.manifest)
            apps.launched(app, inForeground: environment.startsInForeground, at: now)
            apps.setTasks(tasks.count, of: app, at: now)
        }
        let options = engine.apps.launchOptions(of: app)
        sinks.with { $0.launchOptions = options }
        open()
        pump()
    }

    private func receive(_ request: ClientRequest, from manager: ManagerID) {
        guard !isClosed else { return }
        let (now, app) = (now, app)
        engine.withApps(at: now) { $0.receive(request, from: manager, of: app, at: now) }
        pump()
    }

    private func advance() {
        guard !isClosed else { return }
        engine.advance(to: now)
        pump()
    }

    // MARK: The transport

    private func open() {
        guard !isClosed else { return }
        do throws(TransportError) {
            if runner == nil {
                let made = try makeRunner()
                port.runner = made
                let bonds = made.bonds
                engine.withApps(at: now) { $0.restored(bonds) }
            }
            try runner?.open(
                .init(step: { self.step() }, ended: { error in self.transportEnded(error) }))
            complaint = nil
            hasBeenOpen = true
        } catch {
            transportEnded(error)
        }
    }

    private func makeRunner() throws(TransportError) -> HostRunner {
        var adapter = configuration.adapter
        adapter.security = security
        let address: TransportAddress
        if let name = configuration.environment.transport {
            address = try TransportAddress(name)
        } else {
            // Without an adapter, opening the transport explains what is missing, now and later.
            address = .userChannel(adapter: (try? AdapterList.first().index) ?? 0)
        }
        do throws(BondStoreError) {
            return try HostRunner(address, configuration: adapter, loop: loop)
        } catch {
            // Bonded devices would look like strangers, and be served without encryption.
            guard !error.mayHideBonds else { throw .unusableFile("bonds", reason: "\(error)") }
            // Bluetooth works without a file for bonds, but new bonds are lost.
            write("bonds cannot be read: \(error)")
            adapter.bondStore = nil
            do throws(BondStoreError) {
                return try HostRunner(address, configuration: adapter, loop: loop)
            } catch { throw .unusableFile("bonds", reason: "\(error)") }
        }
    }

    /// The adapter is gone; keeps trying to open it again.
    private func transportEnded(_ error: TransportError?) {
        guard !isClosed else { return }
        let text = error?.description ?? "the transport was closed"
        let isNew = complaint != text
        if isNew {
            let transport = configuration.environment.transport
            write(
                "no Bluetooth\(transport.map { " (JELLING_TRANSPORT=\($0))" } ?? ""): \(text)"
                    + (transport == nil ? "; JELLING_TRANSPORT names another controller, ‘sim’ a simulated one" : ""))
        }
        complaint = text
        let (now, hasBeenOpen) = (now, hasBeenOpen)
        engine.withApps(at: now) { apps in
            if hasBeenOpen { apps.transportClosed(at: now) } else { apps.transportFailed(at: now) }
        }
        retry?.set(atMicroseconds: loop.nowMicroseconds + Self.reopenSeconds * 1_000_000)
        pump()
    }

    /// Releases the controller before the process ends: stops everything and closes links, so that peers need not wait
    /// for a timeout. The app receives no events from this, and the preserved state does not change.
    nonisolated func handBack() {
        let done = DispatchSemaphore(value: 0)
        onLoop { system in
            system.isClosed = true
            guard let runner = system.runner, runner.isOpen else {
                done.signal()
                return
            }
            system.onStopped = { done.signal() }
            _ = runner.submit(.stop)
            runner.settle()
        }
        _ = done.wait(timeout: .now() + .seconds(1))
    }

    /// Ends like a killed process, without any event or message. Tests have many processes in one.
    func kill() {
        isClosed = true
        sinks.with { $0.managers.removeAll() }
        retry?.cancel()
        deadline?.cancel()
        runner?.close()
        runner?.shutDown()
        port.runner = nil
        if configuration.loop == nil { loop.runLater { self.loop.stop() } }
    }

    /// Returns when all earlier requests have been processed.
    func barrier() async {}

    // MARK: Engine and apps

    private func step() -> Bool {
        guard !isClosed else {
            guard let event = runner?.nextEvent() else { return false }
            if event == .stopped { onStopped?() }
            return true
        }
        guard engine.step(at: now) else { return false }
        carryOut()
        followWake()
        arm()
        return true
    }

    private func handle(_ event: HostEvent) {
        switch event {
        case .reopenTransport: runner?.reopenTransport()
        case .ready(let information):
            let isExtended = information.usesExtendedCommands
            sinks.with { $0.features = isExtended ? .extendedScanAndConnect : [] }
        case .pairing(let link, let event): handle(event, on: link)
        case .bondChanged, .bondRemoved:
            if let error = runner?.takeStoreError() { write("a bond could not be saved: \(error)") }
        // The apps receive these events if they concern them.
        case .recovering, .failed, .stopped, .discovered, .advertisingChanged, .completed, .connected, .disconnected,
            .gatt, .centralConnected, .centralDisconnected, .server, .encryptionChanged, .cleartextRefused, .channel,
            .connectionParametersChanged, .phyChanged, .dataLengthChanged, .identityFound, .ambiguousIdentity,
            .malformedPacket, .advertisingSet, .advertisingRoom, .train, .subrateChanged, .linkReport:
            break
        }
    }

    /// Carries out the outputs of the apps' machine after an input that did not come from the engine.
    func pump() {
        carryOut()
        followWake()
        runner?.settle()
        arm()
    }

    /// Sets the timer to the next deadline of the apps' machine.
    private func arm() {
        if let next = engine.nextDeadline {
            deadline?.set(atMicroseconds: UInt64(max(0, next.microseconds)))
        } else {
            deadline?.clear()
        }
    }

    // Not inlined: Swift 6.3 with -O begins both accesses to `engine` in the loop below and does not end the first, so
    // that an optimised program aborted with simultaneous accesses.
    @inline(never) private func nextHostEvent() -> HostEvent? { engine.nextHostEvent() }
    @inline(never) private func nextOutput() -> LifecycleOutput? { engine.nextOutput() }

    private func carryOut() {
        while true {
            while let event = nextHostEvent() { handle(event) }
            guard let output = nextOutput() else { return }
            switch output {
            case .submit: break  // the engine takes these
            case .event(let event, let manager, _):
                if event.isAnswer {
                    answer = event
                } else {
                    deliver(event, to: manager)
                }
            case .discovered(let shared):
                for recipient in shared.recipients { deliver(shared.event(for: recipient), to: recipient.manager) }
            case .process(.expiring, _):
                sinks.with { $0.onExpiration }?()
                tasks.expire()
            case .process: break  // this process runs; events wait in the machine
            case .alert(let alert): raise(alert)
            case .alertWithdrawn: break
            case .log(let message, _): log(message)
            case .journal(let entry): journal?.append(entry)
            }
        }
    }

    private func deliver(_ event: ClientEvent, to manager: ManagerID) {
        let deliver = sinks.with { sinks in
            sinks.managers[manager]?.delivered += 1
            return sinks.managers[manager]?.deliver
        }
        deliver?(event)
        guard engine.apps.isHeldBack(manager, of: app) else { return }
        takeReturned(of: manager)
        guard engine.apps.isHeldBack(manager, of: app) else { return }
        // The app handles events on another thread: it may have handled them by now.
        if sinks.with({ $0.managers[manager]?.holdBack() ?? false }) { takeReturned(of: manager) }
    }

    /// Reports handled events to the machine, which releases more; the caller must carry out its outputs afterwards.
    private func takeReturned(of manager: ManagerID) {
        guard let returned = sinks.with({ $0.managers[manager]?.takeReturned() }), returned.events > 0 else { return }
        let (now, app) = (now, app)
        engine.withAppsWithinStep(at: now) {
            $0.returned(events: returned.events, octets: returned.octets, by: manager, of: app, at: now)
        }
    }

    /// Keeps the machine and the app informed of the time that the app has: the machine ends a wake when the app is done,
    /// so it must know what the app has handled (SPEC BGX-4).
    private func followWake() {
        let now = now
        let left = engine.apps.remainingTime(of: app, at: now)
        guard left != nil || isLimited else { return }
        isLimited = left != nil
        let isWoken = engine.apps.isWoken(app)
        let idle = sinks.with { sinks in
            sinks.end = left.map { UInt64(max(0, now.advanced(by: $0).microseconds)) }
            sinks.isWoken = isWoken
            return isWoken ? sinks.managers.filter { $0.value.isNewlyIdle }.keys.sorted() : []
        }
        guard !idle.isEmpty else { return }
        for manager in idle { takeReturned(of: manager) }
        carryOut()
    }

    private func raise(_ alert: Alert) {
        let told = CBApplication.Alert(alert)
        if let body = sinks.with({ $0.onAlert }) { return body(told) }
        write(told.text)
    }
}
