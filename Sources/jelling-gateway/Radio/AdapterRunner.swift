import BLE
import BLEDaemonClient
import BLESecurity
import BLEUSB
import BLEVirtualTransports
import Logging
import Synchronization

/// Keeps one adapter scanning: opens it, watches it, reopens it.
///
///     opening ──▶ scanning ──error, silence──▶ waiting ──▶ opening
///        └──────────────error────────────────────▲
final class AdapterRunner: Sendable {
    /// The state of an adapter, for health and metrics.
    struct Status: Sendable {
        enum Phase: String { case opening, scanning, waiting }
        var phase = Phase.opening
        var problem: String?
        var openings: UInt64 = 0
        var failures: UInt64 = 0
        /// How often the adapter was reopened because it received nothing.
        var silences: UInt64 = 0
        /// The current number of silences in a row.
        var silencesInARow = 0
        /// The number of discoveries that were dropped because they were not handled in time.
        var dropped: UInt64 = 0
        /// The counters of the engine, current and previous ones together.
        var counters = HostCounters()
        var lastReport: ContinuousClock.Instant?
    }

    let settings: AdapterSettings
    private let watchdog: Mutex<WatchdogSettings>
    private let radio: GatewayRadio
    private let logger: Logger
    private let state = Mutex(Status())
    /// The scan that runs, and whether it is active; `nil` in `chosen`: as in the settings.
    private let scanning = Mutex<(task: Task<Void, any Error>?, chosen: Bool?)>((nil, nil))
    private let adapter = Mutex<Adapter?>(nil)
    /// Called if the adapter stays silent although it was reopened.
    private let giveUp: @Sendable (String) -> Void

    init(
        _ settings: AdapterSettings, watchdog: WatchdogSettings, radio: GatewayRadio, logger: Logger,
        giveUp: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.watchdog = Mutex(watchdog)
        self.radio = radio
        self.logger = logger
        self.giveUp = giveUp
    }

    /// Changes the watchdog, also of an adapter that scans.
    func use(_ watchdog: WatchdogSettings) { self.watchdog.withLock { $0 = watchdog } }

    /// Changes whether scan responses are requested, also of an adapter that scans; links stay.
    /// - Parameter isActive: `nil`: as in the settings.
    func scan(isActive: Bool?) {
        scanning.withLock { scanning in
            guard scanning.chosen != isActive else { return }
            scanning.chosen = isActive
            scanning.task?.cancel()
        }
    }

    var status: Status { state.withLock { $0 } }

    /// Reads the counters from the engine's thread; returns when that thread has responded.
    func refreshCounters() async {
        guard let adapter = adapter.withLock({ $0 }) else { return }
        let counters = await adapter.counters
        state.withLock { $0.counters = counters }
    }

    /// Runs until the task is cancelled, then releases the controller.
    func run() async {
        var pause = Duration.seconds(1)
        while !Task.isCancelled {
            let began = ContinuousClock.now
            await runOnce()
            if Task.isCancelled { return }
            state.withLock { $0.phase = .waiting }
            if ContinuousClock.now - began > .seconds(60) { pause = .seconds(1) }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(30))
        }
    }

    private func runOnce() async {
        state.withLock { $0.phase = .opening }
        var configuration = AdapterConfiguration(makeVirtualTransport: USBTransports.adding(to: VirtualTransports.open))
        configuration.cryptoProvider = SwiftCryptoProvider()
        radio.prepare(&configuration)
        DaemonClient.join(&configuration)
        let adapter: Adapter
        do {
            adapter = try await Adapter.open(settings.transport, configuration: configuration)
        } catch {
            return failed("\(error)")
        }
        self.adapter.withLock { $0 = adapter }
        state.withLock { state in
            state.openings += 1
            state.phase = .scanning
        }
        let index = radio.index(ofAdapter: settings.transport)
        radio.links?.use(adapter, at: index)
        await radio.proxy?.opened(adapter)
        let watch = Task { await self.watch(adapter, index) }
        do {
            while try await scan(adapter, index) {}
            if !Task.isCancelled, state.withLock({ $0.problem }) == nil { failed("the scan ended") }
        } catch {
            failed("\(error)")
        }
        watch.cancel()
        await watch.value
        let counters = await adapter.counters
        state.withLock { state in
            state.counters = counters
        }
        self.adapter.withLock { $0 = nil }
        radio.links?.use(nil, at: index)
        await adapter.close()
    }

    /// Scans until the scan ends.
    /// - Returns: whether another one is wanted.
    private func scan(_ adapter: Adapter, _ index: Int) async throws -> Bool {
        let (task, chosen) = scanning.withLock { scanning in
            let isActive = scanning.chosen ?? !settings.isPassive
            let task = Task { [radio] in
                let scan = adapter.scan(ScanRequest(isActive: isActive, allowsDuplicates: true))
                defer { self.state.withLock { $0.dropped += UInt64(scan.droppedCount) } }
                for try await discovery in scan { radio.receive(discovery, adapter: index) }
            }
            scanning.task = task
            return (task, scanning.chosen)
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        return !Task.isCancelled && scanning.withLock { $0.chosen != chosen }
    }

    private func failed(_ problem: String) {
        guard !Task.isCancelled else { return }
        let isNews = state.withLock { state in
            defer { state.problem = problem }
            state.failures += 1
            return state.problem != problem
        }
        if isNews { logger.error("\(settings.transport): \(problem); trying again") }
    }

    /// Closes an adapter that receives nothing, so that it is opened again.
    private func watch(_ adapter: Adapter, _ index: Int) async {
        var heard: UInt64 = 0
        var wasWorking = false
        var last = ContinuousClock.now
        while !Task.isCancelled {
            // No longer than a second: a change of the settings is in force at once.
            let silence = self.watchdog.withLock { $0.silence }
            try? await Task.sleep(for: .seconds(silence > 0 ? min(1, max(0.2, silence / 8)) : 1))
            if Task.isCancelled { return }
            let watchdog = self.watchdog.withLock { $0 }
            let counters = await adapter.counters
            state.withLock { $0.counters = counters }
            // A device that is connected need not advertise.
            if radio.links?.hasLinks(ofAdapter: index) == true { last = .now }
            if counters.advertisingReports > heard {
                heard = counters.advertisingReports
                last = .now
                if !wasWorking {
                    wasWorking = true
                    let hadProblem = state.withLock { state in
                        defer { state.problem = nil }
                        state.silencesInARow = 0
                        return state.problem != nil
                    }
                    if hadProblem { logger.info("\(settings.transport): works again") }
                }
                state.withLock { $0.lastReport = last }
            }
            guard watchdog.silence > 0, ContinuousClock.now - last >= .seconds(watchdog.silence) else { continue }
            let problem = "no device was heard for \(Int(watchdog.silence)) s"
            let silences = state.withLock { state in
                state.silences += 1
                state.silencesInARow += 1
                return state.silencesInARow
            }
            if watchdog.attempts > 0, silences > watchdog.attempts {
                giveUp("\(settings.transport): \(problem), although it was reopened \(watchdog.attempts) times")
            }
            failed(problem)
            await adapter.close()
            return
        }
    }
}
