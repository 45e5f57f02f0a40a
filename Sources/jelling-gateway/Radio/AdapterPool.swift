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
    private let radio: GatewayRadio
    /// Whether scans are active; `nil`: as in the settings.
    private let scanMode = Mutex<Bool?>(nil)
    private let logger: Logger
    private let giveUp: @Sendable (String) -> Void

    init(radio: GatewayRadio, logger: Logger, giveUp: @escaping @Sendable (String) -> Void) {
        self.radio = radio
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
            let runner = AdapterRunner(settings, watchdog: watchdog, radio: radio, logger: logger, giveUp: giveUp)
            runner.scan(isActive: scanMode.withLock { $0 })
            let task = Task { await runner.run() }
            running.withLock { $0.append(Running(runner: runner, task: task)) }
        }
    }

    /// Opens adapters again, as after a change of what they are opened with; their links end.
    func reopen(where isWanted: (AdapterSettings) -> Bool, watchdog: WatchdogSettings) async {
        let all = runners.map(\.settings)
        await set(all.filter { !isWanted($0) }, watchdog: watchdog)
        await set(all, watchdog: watchdog)
    }

    /// Changes whether scan responses are requested.
    /// - Parameter isActive: `nil`: as in the settings.
    func scan(isActive: Bool?) {
        scanMode.withLock { $0 = isActive }
        for runner in runners { runner.scan(isActive: isActive) }
    }

    func run() async throws {
        try? await gracefulShutdown()
        await set([], watchdog: WatchdogSettings())
    }
}
