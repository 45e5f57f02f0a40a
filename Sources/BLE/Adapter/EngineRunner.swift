import BLEHost
import BLEPackets
import BLETransport

/// The engine of an adapter: its own on a transport (`HostRunner`), or the shared one of a daemon.
///
/// It belongs to its event loop, and so does its owner.
@_spi(HostRunner)
public protocol EngineRunner: AnyObject {
    /// What the controller reported about itself.
    var information: ControllerInformation { get }
    /// Counters of errors and recoveries.
    var counters: HostCounters { get }
    /// The bonded devices, as far as this program may know them.
    var bonds: [Bond] { get }
    /// The key with which bonded devices resolve this device's private addresses; `nil` if there is none.
    var identityResolvingKey: Key128? { get }
    /// Whether the connection to the controller is open, or its end has not been reported yet.
    var isOpen: Bool { get }
    /// Opens the connection to the controller.
    /// - Throws: why it could not be opened.
    func open(_ handlers: HostRunner.Handlers) throws(TransportError)
    /// Closes the connection to the controller at once; `ended` follows.
    func close()
    /// Releases the resources of the loop, after the end.
    func shutDown()
    /// Answers `HostEvent.reopenTransport`.
    /// - Parameter resetsDevice: whether the device should be reset on its bus before.
    func reopenTransport(resetsDevice: Bool)
    /// Submits a command to the engine; call `settle` afterwards.
    func submit(_ command: HostCommand, from client: ClientID) -> OperationID
    /// The engine's next event; `nil` if there is none.
    func nextEvent() -> HostEvent?
    /// Carries out what follows from the commands and inputs.
    func settle()
    /// Why the last change of a bond could not be saved; reported once.
    func takeStoreError() -> BondStoreError?
}

extension HostRunner: EngineRunner {}
