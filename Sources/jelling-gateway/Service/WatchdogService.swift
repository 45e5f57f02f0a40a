import BLEServiceManager
import ServiceLifecycle

/// Notifies systemd's watchdog as long as the threads of the engines and of the queue respond.
struct WatchdogService: Service {
    let manager: ServiceManager
    let core: GatewayCore
    let pool: AdapterPool
    let delivery: Delivery?

    func run() async throws {
        manager.notify("READY=1")
        await cancelWhenGracefulShutdown {
            guard let interval = manager.watchdogMicroseconds else {
                try? await gracefulShutdown()
                return
            }
            while !Task.isCancelled {
                // If a thread hangs, this waits, and systemd ends the service.
                _ = core.deviceCount
                for runner in pool.runners { await runner.refreshCounters() }
                if await delivery?.answers(within: .seconds(5)) ?? true { manager.notify("WATCHDOG=1") }
                try? await Task.sleep(for: .microseconds(interval) / 3)
            }
        }
        manager.notify("STOPPING=1")
    }
}
