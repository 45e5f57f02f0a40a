@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost

/// The runner's engine below the life of apps. The runner handles its deadlines.
extension HostRunner: LifecycleHost {
    public func take(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID? {
        submit(command, from: client)
    }
}
