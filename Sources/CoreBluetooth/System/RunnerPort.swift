@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost

/// Gives the life cycle of apps access to the runner's engine.
///
/// It is a class because both the life cycle and its owner hold it: the runner exists only once the transport is known.
final class RunnerPort: LifecycleHost {
    var runner: HostRunner?

    /// The runner handles the engine's deadlines.
    var nextDeadline: Instant? { nil }
    func advance(to now: Instant) {}

    func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        runner?.submit(command, from: client)
    }

    func nextEvent() -> HostEvent? { runner?.nextEvent() }
    var hasTransport: Bool { runner?.hasTransport ?? false }
}
