import Logging
import ServiceLifecycle
import Synchronization

/// The adapters of the gateway. Each runs independently, and some can change while the others continue.
final class AdapterPool: Service {
    private struct Running {
        var runner: AdapterRunner
        var task: Task<Void, Never>
    }

    private let running = Mutex<[Running]>([])
    private let core: GatewayCore
    private let logger: Logger
    private let giveUp: @Sendable (String) -> Void

    init(core: GatewayCore, logger: Logger, giveUp: @escaping @Sendable (String) -> Void) {
        self.core = core
        self.logger = logger
        self.giveUp = giveUp
    }

    var runners: [AdapterRunner] { running.withLock { $0.map(\.runner) } }

    /// Whether an adapter was opened since the start.
    var hasOpened: Bool { runners.contains { $0.status.openings > 0 } }

    /// Starts and stops adapters so that exactly these run, all with this watchdog.
    func set(_ adapters: [AdapterSettings], watchdog: WatchdogSettings) async {
        let (ending, kept) = running.withLock { running in
            let kept = running.filter { adapters.contains($0.runner.settings) }
            let ending = running.filter { !adapters.contains($0.runner.settings) }
            running = kept
            return (ending, kept.map(\.runner.settings))
        }
        for runner in runners { runner.use(watchdog) }
        for adapter in ending { adapter.task.cancel() }
        for adapter in ending { await adapter.task.value }
        for settings in adapters where !kept.contains(settings) {
            let runner = AdapterRunner(settings, watchdog: watchdog, core: core, logger: logger, giveUp: giveUp)
            let task = Task { await runner.run() }
            running.withLock { $0.append(Running(runner: runner, task: task)) }
        }
    }

    func run() async throws {
        try? await gracefulShutdown()
        await set([], watchdog: WatchdogSettings())
    }
}
