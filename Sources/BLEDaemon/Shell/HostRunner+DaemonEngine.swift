@_spi(HostRunner) import BLE
import BLEHost
import BLEPackets

extension HostRunner: DaemonEngine {
    package func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID {
        submit(command, from: client)
    }

    package func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) { setUser(user, of: client) }
}
