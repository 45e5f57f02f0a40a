@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEPackets

/// The runner's engine, as the life of apps drives it; what it tells is kept for the tools besides.
///
/// A class, because both the life of apps and the daemon hold it.
final class EnginePort: LifecycleHost {
    let runner: HostRunner
    /// What the engine told and the daemon has not looked at.
    var told = Queue<HostEvent>()

    init(_ runner: HostRunner) { self.runner = runner }

    /// The runner sees to the engine's time.
    var nextDeadline: Instant? { nil }
    func advance(to now: Instant) {}

    func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        runner.submit(command, from: client)
    }

    func nextEvent() -> HostEvent? {
        guard let event = runner.nextEvent() else { return nil }
        told.append(event)
        return event
    }
}
