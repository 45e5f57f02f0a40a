@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEAppState
import BLEMessages
import Foundation

/// The system in this process: the engine on an adapter, and the life cycle of the one app that runs here.
///
/// It runs on the adapter's own thread. Only values go in and out, as between this process and a daemon.
actor LocalSystem: ServedSystem {
    /// The limit of unhandled events of one manager, and of their octets.
    private static let unhandledEventLimit = 1024
    private static let unhandledOctetLimit = 1 << 19
    /// How long to wait after a failure before opening the transport again, in seconds.
    private static let reopenSeconds: UInt64 = 5

    nonisolated let client: SystemClient
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe client.loop.asUnownedSerialExecutor() }
    nonisolated private let configuration: Configuration
    nonisolated let app: AppID
    nonisolated private let journal: JournalFile?

    /// The apps on the runner's engine. The tests of `BLEAppLifecycle` use the same type with another engine.
    var engine: LifecycleEngine<HostRunner?>
    /// The engine's runner, as soon as the transport is known.
    private(set) var runner: HostRunner?
    var security: SecuritySettings
    var pairingAgent: (any CBPairingAgent)?
    var pairingState = AdapterSecurity()
    var pairingPartners: [LinkID: PairingPartner] = [:]
    private var deadline: EventLoop.Deadline?
    private var retry: EventLoop.Deadline?
    /// Whether the app's time is limited, as far as the sinks know it.
    private var isLimited = false
    private var isClosed = false
    /// Whether the engine had events since the timer was last set.
    private var hasStepped = false
    private var hasBeenOpen = false
    private var onStopped: (() -> Void)?

    init(_ configuration: Configuration) {
        self.configuration = configuration
        app = AppID(rawValue: configuration.environment.identifier)
        client = SystemClient(configuration.environment, loop: configuration.loop, log: configuration.log)
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
        engine = LifecycleEngine(on: nil, settings: settings, seed: seed, restoring: journal?.read() ?? .init())
    }

    // MARK: Managers

    nonisolated func begin() { onLoop { $0.start() } }

    nonisolated func submit(_ request: ClientRequest, from manager: ManagerID, then done: (@Sendable () -> Void)?) {
        onLoop { system in
            system.receive(request, from: manager)
            guard let done else { return }
            system.client.handOver()
            done()
        }
    }

    nonisolated func giveBack(of manager: ManagerID) {
        onLoop { system in
            guard !system.isClosed else { return }
            system.reportHandled(of: manager)
            system.pump()
        }
    }

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

    nonisolated func tasksChanged(to count: Int) {
        onLoop { system in
            guard !system.isClosed else { return }
            let (now, app) = (system.now, system.app)
            system.engine.withApps(at: now) { $0.setTasks(count, of: app, at: now) }
            system.pump()
        }
    }

    // MARK: The loop

    nonisolated func onLoop(_ body: @escaping @Sendable (isolated LocalSystem) -> Void) {
        client.loop.run { self.assumeIsolated { body($0) } }
    }

    var now: Instant { Instant(microseconds: Int64(client.loop.nowMicroseconds)) }

    private func start() {
        deadline = client.loop.makeDeadline { self.advance() }
        retry = client.loop.makeDeadline { self.open() }
        let (now, environment, app) = (now, configuration.environment, app)
        engine.withApps(at: now) { apps in
            apps.declare(environment.manifest)
            apps.launched(app, inForeground: environment.startsInForeground, at: now)
            apps.setTasks(client.tasks.count, of: app, at: now)
        }
        let options = engine.apps.launchOptions(of: app)
        client.state.with { $0.launchOptions = options }
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
                runner = made
                engine.withHost(at: now) { $0 = made }
                let bonds = made.bonds
                engine.withApps(at: now) { $0.restored(bonds) }
            }
            try runner?.open(
                .init(step: { self.step() }, ended: { error in self.transportEnded(error) }))
            client.state.with { $0.complaint = nil }
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
            return try HostRunner(address, configuration: adapter, loop: client.loop)
        } catch {
            // Bonded devices would look like strangers, and be served without encryption.
            guard !error.mayHideBonds else { throw .unusableFile("bonds", reason: "\(error)") }
            // Bluetooth works without a file for bonds, but new bonds are lost.
            client.write("bonds cannot be read: \(error)")
            adapter.bondStore = nil
            do throws(BondStoreError) {
                return try HostRunner(address, configuration: adapter, loop: client.loop)
            } catch { throw .unusableFile("bonds", reason: "\(error)") }
        }
    }

    /// The adapter is gone; keeps trying to open it again.
    private func transportEnded(_ error: TransportError?) {
        guard !isClosed else { return }
        let transport = configuration.environment.transport
        client.complain(of: error?.description ?? "the transport was closed") { reason in
            "no Bluetooth\(transport.map { " (JELLING_TRANSPORT=\($0))" } ?? ""): \(reason)"
                + (transport == nil ? "; JELLING_TRANSPORT names another controller, ‘sim’ a simulated one" : "")
        }
        let (now, hasBeenOpen) = (now, hasBeenOpen)
        engine.withApps(at: now) { apps in
            if hasBeenOpen { apps.transportClosed(at: now) } else { apps.transportFailed(at: now) }
        }
        retry?.set(atMicroseconds: client.loop.nowMicroseconds + Self.reopenSeconds * 1_000_000)
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
        client.removeAll()
        retry?.cancel()
        deadline?.cancel()
        runner?.close()
        runner?.shutDown()
        runner = nil
        engine.withHost(at: now) { $0 = nil }
        if configuration.loop == nil { client.loop.runLater { self.client.loop.stop() } }
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
        guard engine.step(at: now) else {
            if hasStepped {
                hasStepped = false
                followWake()
                arm()
            }
            return false
        }
        hasStepped = true
        carryOut()
        return true
    }

    private func handle(_ event: HostEvent) {
        switch event {
        case .reopenTransport(let resetsDevice): runner?.reopenTransport(resetsDevice: resetsDevice)
        case .ready(let information):
            let isExtended = information.usesExtendedCommands
            client.state.with { $0.features = isExtended ? .extendedScanAndConnect : [] }
        case .pairing(let link, let event): handle(event, on: link)
        case .bondChanged, .bondRemoved:
            if let error = runner?.takeStoreError() { client.write("a bond could not be saved: \(error)") }
        // The apps receive the others if they concern them.
        default: break
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
                    client.handOver()
                    client.answer(event)
                } else {
                    deliver(event, to: manager)
                }
            case .discovered(let shared):
                for recipient in shared.recipients { deliver(shared.event(for: recipient), to: recipient.manager) }
            case .process(.expiring, _): client.expire()
            case .process: break  // this process runs; events wait in the machine
            case .alert(let alert): client.raise(CBApplication.Alert(alert))
            case .alertWithdrawn: break
            case .log(let message, _): log(message)
            case .journal(let entry): journal?.append(entry)
            }
        }
    }

    private func deliver(_ event: ClientEvent, to manager: ManagerID) {
        client.deliver(event, to: manager)
        guard engine.apps.isHeldBack(manager, of: app) else { return }
        // The app can handle only what it has: the machine would withhold the rest for ever.
        client.handOver()
        reportHandled(of: manager)
        guard engine.apps.isHeldBack(manager, of: app) else { return }
        // The app handles events on another thread: it may have handled them by now.
        if client.withhold(manager) { reportHandled(of: manager) }
    }

    /// Reports handled events to the machine, which releases more; the caller must carry out its outputs afterwards.
    private func reportHandled(of manager: ManagerID) {
        guard let returned = client.drainHandled(of: manager) else { return }
        let (now, app) = (now, app)
        engine.withAppsWithinStep(at: now) {
            $0.returned(events: returned.events, octets: returned.octets, by: manager, of: app, at: now)
        }
    }

    /// Keeps the machine and the app informed of the time that the app has: the machine ends a wake when the app is
    /// done, so it must know what the app has handled (SPEC BGX-4).
    private func followWake() {
        let now = now
        let left = engine.apps.remainingTime(of: app, at: now)
        guard left != nil || isLimited else { return }
        isLimited = left != nil
        let end = left.map { UInt64(max(0, now.advanced(by: $0).microseconds)) }
        let idle = client.setTime(until: end, isWoken: engine.apps.isWoken(app))
        guard !idle.isEmpty else { return }
        for manager in idle { reportHandled(of: manager) }
        carryOut()
    }
}
