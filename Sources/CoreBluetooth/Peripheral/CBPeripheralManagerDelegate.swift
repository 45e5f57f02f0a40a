// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// What happens to a peripheral manager (SPEC 1.3). `peripheralManagerDidUpdateState` must be there, the others may be
/// left out; what `CBCentralManagerDelegate` says of subclasses holds here too.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; the first call comes soon after the manager was made.
    /// Below `.poweredOn` nothing is advertised and centrals are gone; below `.poweredOff` services have to be added,
    /// and advertising has to be started, again (SPEC 2.4).
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

    /// The first call of all where a preserved manager is restored (SPEC SPR-10).
    /// - Parameter dict: under the keys that begin with `CBPeripheralManagerRestoredState`, as far as there was
    ///   something: the services with their subscribed centrals, and what was advertised (SPEC SPR-12, SPR-36).
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

    /// Follows `startAdvertising(_:)` (SPEC PER-9), unless the manager is below `.poweredOn`, where the request is
    /// dropped with a line in the log. An app in the background without the mode is told of no error and is heard when
    /// it is in the foreground again (SPEC FGO-2).
    /// - Parameter error: `nil` when this manager advertises from now on. `CBError.invalidParameters` for a key that is
    ///   not allowed (SPEC PER-10), `.alreadyAdvertising` for a second start, `.unknown` where the controller refuses.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// Follows `add(_:)` (SPEC PER-6), unless the service was published already or the manager is below `.poweredOn`:
    /// then there is a line in the log.
    /// - Parameter error: `nil` when centrals can find the service, which cannot be changed any more (SPEC PER-7).
    ///   Otherwise it is the app's own again: `CBError.uuidNotAllowed` for what the system has itself (SPEC 2.4),
    ///   `.outOfSpace` when the handles are used up, `.invalidParameters` for an included service that is not
    ///   published, a property that is not allowed (SPEC PER-4) or a value of more than 512 octets.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

    /// The cue to send updates (SPEC PER-20).
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)

    /// The central wants no more of this characteristic, or is gone. A bonded central that goes keeps its subscription
    /// and is not told of (SPEC PER-20, 2.4). `subscribedCentrals` has changed already.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)

    /// To be answered once by `respond(to:withResult:)` (SPEC PER-16). Left out, such requests are refused.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

    /// To be answered once, with the first of the requests (SPEC PER-18). Left out, such requests are refused.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

    /// There is room for updates again after one was refused (SPEC PER-22).
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

    /// Follows `publishL2CAPChannel(withEncryption:)`.
    /// - Parameters:
    ///   - PSM: under which centrals can open channels, 0x0080 to 0x00FF; 0 where there is an error.
    ///   - error: `CBError.outOfSpace` when no number is free.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    /// Follows `unpublishL2CAPChannel(_:)`. The channels that were opened by it end as well (SPEC 2.4).
    /// - Parameter error: `CBError.invalidParameters` when this manager does not offer that number.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    /// A central has opened a channel to a published number. Keep the channel: it closes when the last reference goes.
    /// - Parameter error: always `nil`: what did not become a channel is told to the central alone.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
