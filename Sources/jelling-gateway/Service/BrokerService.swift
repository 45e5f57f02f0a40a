import Logging
import ServiceLifecycle

/// Keeps the session with the broker until the program ends; then writes all messages and publishes `offline`.
struct BrokerService: Service {
    let delivery: Delivery

    func run() async throws {
        try? await gracefulShutdown()
        delivery.finish()
    }
}
