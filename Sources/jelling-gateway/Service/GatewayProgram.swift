import BLEGateway
import BLEServiceManager
import BLEStateFiles
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Creates the parts of the gateway and runs them until the program ends.
final class GatewayProgram: Sendable {
    private let source: SettingsSource
    private let options: Options
    private let logger: Logger
    private let settings: Mutex<GatewaySettings>
    private let core: GatewayCore
    private let pool: AdapterPool
    private let proxy: ProxyService?
    private let matter: MatterService?
    private let links: GatewayLinks?
    private let gatt: GATTService?
    private let delivery: Delivery?
    private let printer: DocumentPrinter?
    private let ending: Ending
    private let bonds: BondedDevices
    private let counters: CounterService?
    private let retained: RetainedService?
    private let requests: ReloadRequests
    private let hub = EventHub()
    /// The settings of the start: for some of them a change needs a restart.
    private let started: GatewaySettings
    /// The keys whose changes wait for a restart.
    private let waiting = Mutex<[String]>([])
    private let server = Mutex<GatewayServer?>(nil)

    private struct Options: Sendable {
        var prints: Bool
        var count: Int?
        var duration: Double?
    }

    /// Ends the program from within.
    private final class Ending: Sendable {
        private struct State {
            var group: ServiceGroup?
            var isRequested = false
            var reason: String?
        }

        private let state = Mutex(State())

        var reason: String? { state.withLock { $0.reason } }

        func set(_ group: ServiceGroup) {
            let isRequested = state.withLock { state in
                state.group = group
                return state.isRequested
            }
            if isRequested { Task { await group.triggerGracefulShutdown() } }
        }

        /// - Parameter reason: the error; `nil`: a normal end.
        func request(_ reason: String? = nil) {
            let group = state.withLock { state -> ServiceGroup? in
                state.isRequested = true
                state.reason = state.reason ?? reason
                return state.group
            }
            if let group { Task { await group.triggerGracefulShutdown() } }
        }
    }

    init(source: SettingsSource, settings: GatewaySettings, requests: ReloadRequests, options: GatewayCommand) {
        self.source = source
        self.requests = requests
        started = settings
        self.options = Options(prints: options.print, count: options.count, duration: options.duration)
        LoggingSystem.bootstrap { _ in StandardErrorLog() }
        let logger = Logger(label: "gateway")
        self.logger = logger
        let shared = SharedQuality(settings.broker?.qualityOfService ?? 1)
        quality = shared
        let stateFolder = Self.stateFolder(settings)
        let bonds = BondedDevices(folder: Self.bondFolder(settings), logger: logger)
        self.bonds = bonds
        if settings.broker != nil { bonds.makeFolder() }
        requests.watch(Self.watched(settings, bonds))
        let settings = bonds.identified(settings)
        self.settings = Mutex(settings)
        let ending = Ending()
        self.ending = ending
        let restart = Restart()
        let requestedGATT = RequestedGATT()
        if settings.broker != nil {
            delivery = Delivery(
                settings: settings.queue, path: Self.queuePath(settings, stateFolder),
                folder: settings.queue.path == nil ? stateFolder : nil, logger: logger
            ) { topic, payload in
                if topic.hasSuffix("/gatt/request") { return requestedGATT.received(payload) }
                if payload == Array("online".utf8), topic.hasSuffix("/status") { restart.happened() }
            } onUnwanted: {
                requestedGATT.unwanted($0)
            }
        } else {
            delivery = nil
        }
        let printer =
            options.print ? DocumentPrinter(limit: options.count, logger: logger) { ending.request() } : nil
        self.printer = printer
        core = GatewayCore(settings.gateway, logger: logger) { [delivery] messages in
            if let printer { for message in messages { printer.print(message) } }
            guard let delivery else { return }
            let quality = shared.value
            delivery.enqueue(
                messages.map { QueuedMessage($0, qualityOfService: quality) })
        }
        // As with the queue: nothing on disk if the settings say so.
        let keepsState = settings.broker != nil && !settings.queue.isInMemory
        counters =
            keepsState ? CounterService(folder: stateFolder, core: core, logger: logger) : nil
        retained = keepsState ? RetainedService(folder: stateFolder, core: core, logger: logger) : nil
        let radio = GatewayRadio(core: core, settings: settings, bonds: bonds, logger: logger)
        links = radio.links
        proxy = radio.proxy
        matter = radio.matter
        pool = AdapterPool(radio: radio, logger: logger) { ending.request($0) }
        if let gatt = settings.gatt, let links {
            // Requests do not take all slots of the proxy's clients.
            let sessions = settings.esphome.map { max(1, min(gatt.sessions, $0.slots - 1)) } ?? gatt.sessions
            self.gatt = GATTService(sessions: sessions, links: links, core: core, hub: hub) { [delivery] in
                delivery?.enqueue([
                    QueuedMessage(topic: $0, payload: $1, qualityOfService: 1, isRetained: false)
                ])
            }
        } else {
            gatt = nil
        }
        restart.core.withLock { $0 = core }
        requestedGATT.service.withLock { $0 = gatt }
    }

    private let quality: SharedQuality

    /// Handles a start of Home Assistant, which then publishes `online`.
    private final class Restart: Sendable {
        let core = Mutex<GatewayCore?>(nil)
        func happened() { core.withLock { $0 }?.announceAgain() }
    }

    /// Gets what comes from the broker for remote GATT.
    private final class RequestedGATT: Sendable {
        let service = Mutex<GATTService?>(nil)
        func received(_ payload: [UInt8]) { service.withLock { $0 }?.received(payload) }
        func unwanted(_ topic: String) { service.withLock { $0 }?.unwanted(topic) }
    }

    /// The quality of service of documents, which a reload may change.
    private final class SharedQuality: Sendable {
        private let storage: Mutex<Int>
        init(_ value: Int) { storage = Mutex(value) }
        var value: Int {
            get { storage.withLock { $0 } }
            set { storage.withLock { $0 = newValue } }
        }
    }

    /// - Returns: whether the program ended normally.
    func run() async -> Bool {
        signal(SIGPIPE, SIG_IGN)
        // Exceeding the limit of file sizes becomes an error of the write.
        signal(SIGXFSZ, SIG_IGN)
        let first = settings.withLock { $0 }
        if let delivery {
            let record = retained?.record() ?? RetainedRecord()
            core.begin(with: record, keepsOnDisk: retained?.isOpen ?? false, delivery: delivery) { [quality] in
                quality.value
            }
        }
        do throws(MQTTProblem) { try connect(first) } catch {
            logger.error("\(error)")
            return false
        }
        counters?.restore()
        await pool.set(first.adapters, watchdog: first.watchdog)
        let manager = ServiceManager()
        var services: [any Service] = []
        // Services end in reverse order: the last acknowledgements are still noted.
        if let retained { services.append(retained) }
        if let delivery { services.append(BrokerService(delivery: delivery)) }
        if let counters { services.append(counters) }
        services.append(makeServer(first))
        if let proxy {
            proxy.use(pool)
            services.append(proxy)
        }
        if let matter {
            matter.use(pool)
            services.append(matter)
        }
        services.append(pool)
        services.append(ReloadService(requests: requests, manager: manager) { await self.reload(isAsked: $0) })
        services.append(BondService(bonds: bonds, requests: requests))
        services.append(WatchdogService(manager: manager, core: core, pool: pool, delivery: delivery))
        if let duration = options.duration {
            Task { [ending, pool] in
                try? await Task.sleep(for: .seconds(duration))
                if pool.hasOpened { ending.request() } else { ending.request("no adapter was opened") }
            }
        }
        var quiet = Logger(label: "services")
        quiet.logLevel = .critical
        let group = ServiceGroup(
            configuration: .init(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        ending.set(group)
        do { try await group.run() } catch {
            logger.error("\(error)")
            return false
        }
        printer?.finish()
        if let reason = ending.reason {
            logger.error("\(reason); giving up")
            return false
        }
        return true
    }

    private func makeServer(_ settings: GatewaySettings) -> GatewayServer {
        let report = StatusReport(
            core: core, pool: pool, delivery: delivery, counters: counters, bonds: bonds, links: links, gatt: gatt,
            proxy: proxy, matter: matter
        ) { [weak self] in
            self?.settings.withLock { $0 } ?? settings
        } waitingChanges: { [weak self] in
            self?.waiting.withLock { $0 } ?? []
        }
        let server = GatewayServer(
            settings: settings.http, report: report, hub: hub, gatt: settings.gatt?.usesHTTP == true ? gatt : nil,
            gattTokenFile: settings.gatt?.tokenFile, logger: logger)
        self.server.withLock { $0 = server }
        return server
    }

    private func connect(_ settings: GatewaySettings) throws(MQTTProblem) {
        guard let delivery, let broker = settings.broker else { return }
        let client = try MQTTClient(broker, of: settings.gateway, delegate: delivery)
        delivery.use(client)
    }

    /// - Parameter isAsked: whether somebody waits for an answer, also if nothing has changed.
    private func reload(isAsked: Bool) async {
        var (new, review) = source.readAll()
        // Without a broker the program would not have started: a file that is empty, or was cut, is no change of
        // settings.
        if new.broker == nil, started.broker != nil { review.add("mqtt", "no broker; add ‘mqtt’ with ‘url’") }
        // Without a broker at the start there is none until a restart.
        let changesBroker = new.broker != nil && started.broker == nil
        if changesBroker { new.broker = nil }
        let waiting = SettingsRule.changedKeys(started, new, needingRestart: true)
        new.keepUntilRestart(of: started)
        if !new.isUsed, !options.prints, review.problems.isEmpty { source.reportNoUse(review) }
        let old = settings.withLock { $0 }
        SettingsCheck(settings: new, stateFolder: Self.stateFolder(new), review: review).checkReload(from: old)
        guard review.problems.isEmpty else {
            for line in WrongSettings(problems: review.problems).lines { logger.error("\(line)") }
            return logger.error("the settings stay as they were")
        }
        if needsSession(new, old) {
            do throws(MQTTProblem) { try connect(new) } catch {
                return logger.error("\(error); the settings stay as they were")
            }
        }
        let usesOtherBonds = Self.bondFolder(new) != bonds.folder
        bonds.use(Self.bondFolder(new))
        if usesOtherBonds, started.broker != nil { bonds.makeFolder() }
        new = bonds.identified(new)
        requests.watch(Self.watched(new, bonds))
        // Also without another setting: certificates are replaced in their files.
        server.withLock { $0 }?.use(new.http)
        let isRestored = note(waiting: waiting, changesBroker: changesBroker)
        guard new != old else {
            let said = isRestored ? "nothing waits for a restart any more" : "none has changed"
            if isAsked || isRestored { logger.info("the settings were loaded again; \(said)") }
            return
        }
        settings.withLock { $0 = new }
        quality.value = new.broker?.qualityOfService ?? 1
        if new.queue != old.queue { delivery?.use(new.queue) }
        if new.gateway != old.gateway { core.configure(new.gateway) }
        // Those of the daemon are its own. The engines of others read theirs when they are opened.
        if usesOtherBonds, links != nil {
            await pool.reopen(where: { !$0.transport.hasPrefix("bled") }, watchdog: old.watchdog)
        }
        if new.adapters != old.adapters || new.watchdog != old.watchdog {
            await pool.set(new.adapters, watchdog: new.watchdog)
        }
        let keys = SettingsRule.text(of: SettingsRule.changedKeys(old, new, needingRestart: false))
        logger.info("the settings were loaded again\(keys.map { "; in force: \($0)" } ?? "")")
    }

    /// Whether a change needs another session with the broker.
    private func needsSession(_ new: GatewaySettings, _ old: GatewaySettings) -> Bool {
        new.broker != old.broker || new.gateway.name != old.gateway.name
            || new.gateway.topics.status != old.gateway.topics.status
            || new.gateway.homeAssistant?.prefix != old.gateway.homeAssistant?.prefix
    }

    /// Names the settings that are not those of the start and need a restart.
    /// - Returns: whether there were some, and are no more.
    private func note(waiting keys: [String], changesBroker: Bool) -> Bool {
        if changesBroker {
            logger.warning("a broker cannot be added while the gateway runs; ‘mqtt’ needs a restart")
        }
        if let text = SettingsRule.text(of: keys) {
            logger.warning("changes of \(text) need a restart; everything else is in force")
        }
        let all = (changesBroker ? ["mqtt"] : []) + keys
        return waiting.withLock { waiting in
            defer { waiting = all }
            return !waiting.isEmpty && all.isEmpty
        }
    }

    /// Files besides that of the settings whose changes count at once.
    private static func watched(_ settings: GatewaySettings, _ bonds: BondedDevices) -> [String] {
        [bonds.watchedPath] + (settings.http?.security?.files ?? [])
    }

    private static func bondFolder(_ settings: GatewaySettings) -> String {
        settings.bonds ?? stateFolder(settings) + "/security"
    }

    /// The path of the queue; `nil`: in memory.
    private static func queuePath(_ settings: GatewaySettings, _ folder: String) -> String? {
        settings.queue.isInMemory
            ? nil : settings.queue.path ?? "\(folder)/gateway-\(settings.gateway.name).sqlite"
    }

    /// The folder for everything that outlives the program; that of bletool, unless the settings name another.
    static func stateFolder(_ settings: GatewaySettings) -> String {
        if let state = settings.state { return state }
        if let base = GatewayCommand.environment("XDG_STATE_HOME"), base.hasPrefix("/") { return base + "/jelling" }
        if let home = GatewayCommand.environment("HOME") { return home + "/.local/state/jelling" }
        return "/var/lib/jelling"
    }
}
