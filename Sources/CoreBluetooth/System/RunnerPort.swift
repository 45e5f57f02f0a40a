@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost

/// The runner's engine, as the life of apps drives it.
///
/// A class, because both the life of apps and its owner hold it: the runner is there once the transport could be named.
final class RunnerPort: LifecycleHost {
    var runner: HostRunner?

    /// The runner sees to the engine's time.
    var nextDeadline: Instant? { nil }
    func advance(to now: Instant) {}

    func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        runner?.submit(command, from: client)
    }

    func nextEvent() -> HostEvent? { runner?.nextEvent() }
}
