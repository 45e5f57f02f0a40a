import Logging
import ServiceLifecycle

/// Keeps the session with the broker until the program ends; then everything is written and the gateway says `offline`.
struct BrokerService: Service {
    let delivery: Delivery

    func run() async throws {
        try? await gracefulShutdown()
        delivery.finish()
    }
}
