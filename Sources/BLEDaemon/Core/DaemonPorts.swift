import BLEHost
import BLEMessages
import BLEPackets
import BLETransport

/// The engine below a `DaemonCore`, such as a `Host`: it accepts commands at once and has events. What it does depends
/// on its own inputs only.
package protocol DaemonEngine: AnyObject {
    func submit(_ command: HostCommand, from client: ClientID, at now: Instant) -> OperationID
    func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant)
    func nextEvent() -> HostEvent?
    /// Whether a transport is open.
    var hasTransport: Bool { get }
    /// Whether a transport is open or about to be opened again, or its end has not been reported yet.
    var isOpen: Bool { get }
    /// The transport to the controller, for logs and the status.
    var address: TransportAddress { get }
    var information: ControllerInformation { get }
    var counters: HostCounters { get }
    var bonds: [Bond] { get }
    /// The key with which bonded devices resolve this device's private addresses.
    var identityResolvingKey: Key128? { get }
    /// Why the last change of a bond could not be saved; reported once.
    func takeStoreError() -> BondStoreError?
}

/// What a `DaemonCore` asks about the machine. No answer changes anything.
package protocol DaemonLookups: AnyObject {
    /// Whether a program has closed its end, whatever is left to be read.
    func isPeerGone(_ connection: ConnectionID) -> Bool
    /// The name of a program, for logs and the status.
    func programName(of process: Int32) -> String
    /// All groups of a user.
    func groups(of user: UInt32) -> [UInt32]
    /// Whether a daemon of this process has an adapter of this name.
    func hasAdapter(_ name: String) -> Bool
    /// Whether log lines of a level are wanted: others need not be composed.
    func isLogged(_ level: DaemonSettings.LogLevel) -> Bool
    /// What is kept of the traits of the adapter's controller; `nil`: nothing is kept.
    var learned: DaemonStatus.Learned? { get }
}

extension DaemonLookups {
    package var learned: DaemonStatus.Learned? { nil }
}
