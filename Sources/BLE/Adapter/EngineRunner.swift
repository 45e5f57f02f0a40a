import BLEHost
import BLEPackets
import BLETransport

/// What an adapter drives: an engine on a transport (`HostRunner`), or one that other programs share, behind a daemon.
///
/// It belongs to its event loop, and so does its owner.
@_spi(HostRunner)
public protocol EngineRunner: AnyObject {
    /// What the controller reported about itself.
    var information: ControllerInformation { get }
    /// What the engine met and survived.
    var counters: HostCounters { get }
    /// The devices that this one is bonded with, as far as this program may know them.
    var bonds: [Bond] { get }
    /// By which bonded devices know this one's private addresses.
    var identityResolvingKey: Key128? { get }
    /// Whether the way to the controller is open, or its end has not been told yet.
    var isOpen: Bool { get }
    /// Opens the way to the controller.
    /// - Throws: why it could not be opened.
    func open(_ handlers: HostRunner.Handlers) throws(TransportError)
    /// Closes the way to the controller at once: `ended` follows.
    func close()
    /// Releases what the loop holds, after the end.
    func shutDown()
    /// Answers `HostEvent.reopenTransport`.
    func reopenTransport()
    /// Gives a command to the engine; `settle` is to follow.
    func submit(_ command: HostCommand, from client: ClientID) -> OperationID
    /// The engine's next event.
    func nextEvent() -> HostEvent?
    /// Carries out what follows.
    func settle()
    /// Why the last change of a bond could not be saved; reported once.
    func takeStoreError() -> BondStoreError?
}

extension HostRunner: EngineRunner {}
