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
    private let delivery: Delivery?
    private let printer: DocumentPrinter?
    private let ending: Ending
    private let bonds: BondedDevices
    private let counters: CounterService?
    private let retained: RetainedService?

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

    init(source: SettingsSource, settings: GatewaySettings, options: GatewayCommand) {
        self.source = source
        self.options = Options(prints: options.print, count: options.count, duration: options.duration)
        LoggingSystem.bootstrap { _ in StandardErrorLog() }
        let logger = Logger(label: "gateway")
        self.logger = logger
        let shared = SharedQuality(settings.broker?.qualityOfService ?? 1)
        quality = shared
        let stateFolder = Self.stateFolder(settings)
        let bonds = BondedDevices(folder: settings.bonds ?? stateFolder + "/security", logger: logger)
        self.bonds = bonds
        if settings.broker != nil { bonds.makeFolder() }
        let settings = bonds.identified(settings)
        self.settings = Mutex(settings)
        let ending = Ending()
        self.ending = ending
        let restart = Restart()
        if settings.broker != nil {
            delivery = Delivery(
                settings: settings.queue, path: Self.queuePath(settings, stateFolder, logger), logger: logger
            ) { topic, payload in
                if payload == Array("online".utf8), topic.hasSuffix("/status") { restart.happened() }
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
        pool = AdapterPool(core: core, logger: logger) { ending.request($0) }
        restart.core.withLock { $0 = core }
    }

    private let quality: SharedQuality

    /// Handles a start of Home Assistant, which then publishes `online`.
    private final class Restart: Sendable {
        let core = Mutex<GatewayCore?>(nil)
        func happened() { core.withLock { $0 }?.announceAgain() }
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
        if let http = first.http {
            let report = StatusReport(name: first.gateway.name, core: core, pool: pool, delivery: delivery)
            services.append(StatusServer(settings: http, report: report, logger: logger))
        }
        services.append(pool)
        // A terminal that is closed ends a program without a file.
        let reload = ReloadService(
            paths: [source.path, bonds.watchedPath].compactMap(\.self), obeysHangUp: source.path != nil,
            logger: logger, manager: manager
        ) { await self.reload() }
        services.append(reload)
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

    private func connect(_ settings: GatewaySettings) throws(MQTTProblem) {
        guard let delivery, let broker = settings.broker else { return }
        var topics: [String] = []
        if let homeAssistant = settings.gateway.homeAssistant { topics.append(homeAssistant.prefix + "/status") }
        let client = try MQTTClient(
            broker, clientID: broker.clientID ?? "jelling-\(settings.gateway.name)",
            statusTopic: Gateway.statusTopic(of: settings.gateway), subscriptions: topics, delegate: delivery)
        delivery.use(client)
    }

    private func reload() async {
        let new: GatewaySettings
        do { new = bonds.identified(try source.read()) } catch {
            return logger.error("\(error); the settings stay as they were")
        }
        let old = settings.withLock { $0 }
        guard new != old else { return }
        let needsSession =
            new.broker != old.broker || new.gateway.name != old.gateway.name
            || new.gateway.topics.status != old.gateway.topics.status
            || (new.gateway.homeAssistant == nil) != (old.gateway.homeAssistant == nil)
        if (new.broker == nil) != (old.broker == nil) {
            return logger.error("a broker cannot be added or removed while the gateway runs; restart it")
        }
        if new.queue != old.queue || new.http != old.http || new.state != old.state || new.bonds != old.bonds {
            logger.warning(
                "changes of ‘queue’, ‘http’, ‘state’ and ‘bonds’ need a restart; everything else is in force")
        }
        if needsSession {
            do throws(MQTTProblem) { try connect(new) } catch {
                return logger.error("\(error); the settings stay as they were")
            }
        }
        settings.withLock { $0 = new }
        quality.value = new.broker?.qualityOfService ?? 1
        if new.gateway != old.gateway { core.configure(new.gateway) }
        if new.adapters != old.adapters || new.watchdog != old.watchdog {
            await pool.set(new.adapters, watchdog: new.watchdog)
        }
        logger.info("the settings were loaded again")
    }

    /// The path of the queue; `nil`: in memory.
    private static func queuePath(_ settings: GatewaySettings, _ folder: String, _ logger: Logger) -> String? {
        if settings.queue.isInMemory { return nil }
        if let path = settings.queue.path { return path }
        do throws(StateFileError) { _ = try SafeFolder(path: folder, isMade: true) } catch {
            logger.error("\(error); messages wait in memory only")
            return nil
        }
        return "\(folder)/gateway-\(settings.gateway.name).sqlite"
    }

    /// The folder for everything that outlives the program; that of bletool, unless the settings name another.
    private static func stateFolder(_ settings: GatewaySettings) -> String {
        if let state = settings.state { return state }
        if let base = GatewayCommand.environment("XDG_STATE_HOME"), base.hasPrefix("/") { return base + "/jelling" }
        if let home = GatewayCommand.environment("HOME") { return home + "/.local/state/jelling" }
        return "/var/lib/jelling"
    }
}
