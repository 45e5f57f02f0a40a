import ServiceLifecycle

/// Notifies systemd's watchdog as long as the threads of the engines and of the queue respond.
struct WatchdogService: Service {
    let notifier: Notifier
    let pool: AdapterPool
    let delivery: Delivery?

    func run() async throws {
        notifier.notify("READY=1")
        await cancelWhenGracefulShutdown {
            guard let interval = notifier.watchdogInterval else {
                try? await gracefulShutdown()
                return
            }
            while !Task.isCancelled {
                // If a thread hangs, this waits, and systemd ends the service.
                for runner in pool.runners { await runner.refreshCounters() }
                if delivery?.answers(within: 5) ?? true { notifier.notify("WATCHDOG=1") }
                try? await Task.sleep(for: interval / 3)
            }
        }
        notifier.notify("STOPPING=1")
    }
}
