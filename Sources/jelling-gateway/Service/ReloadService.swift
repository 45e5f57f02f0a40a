import BLEServiceManager
import ServiceLifecycle

/// Reads the settings again when something asks for it.
struct ReloadService: Service {
    let requests: ReloadRequests
    let manager: ServiceManager
    /// `isAsked`: by SIGHUP.
    let reload: @Sendable (_ isAsked: Bool) async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            async let looking: Void = requests.look()
            for await isAsked in requests.requests {
                manager.notify("RELOADING=1")
                await reload(isAsked)
                manager.notify("READY=1")
            }
            await looking
        }
    }
}
