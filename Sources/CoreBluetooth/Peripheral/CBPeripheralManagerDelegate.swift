// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The events of a peripheral manager (SPEC 1.3). Only `peripheralManagerDidUpdateState` is required; what
/// `CBCentralManagerDelegate` says about subclasses applies here too.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; the first call comes soon after the manager was created.
    /// Below `.poweredOn` nothing is advertised and centrals are disconnected; below `.poweredOff` the app has to add
    /// services and start advertising again (SPEC 2.4).
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

    /// The first call of all, when a preserved manager is restored (SPEC SPR-10).
    /// - Parameter dict: its keys begin with `CBPeripheralManagerRestoredState`. It has what was preserved: the
    ///   services with their subscribed centrals, and the advertisement (SPEC SPR-12, SPR-36).
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

    /// Follows `startAdvertising(_:)` (SPEC PER-9), unless the manager is below `.poweredOn`, where the request is
    /// dropped with a line in the log. An app in the background without the background mode receives no error; it is
    /// advertised when it returns to the foreground (SPEC FGO-2).
    /// - Parameter error: `nil` if this manager advertises from now on. `CBError.invalidParameters` for a key that is
    ///   not allowed (SPEC PER-10), `.alreadyAdvertising` for a second start, `.unknown` if the controller rejects the
    ///   command.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    /// Follows `add(_:)` (SPEC PER-6), unless the service was already published or the manager is below `.poweredOn`:
    /// then there is a line in the log.
    /// - Parameter error: `nil` if centrals can find the service, which can no longer be changed (SPEC PER-7). If there
    ///   is an error, the app may change the service again: `CBError.uuidNotAllowed` for a service that the system
    ///   provides itself (SPEC 2.4), `.outOfSpace` if no handles are left, `.invalidParameters` for an included service
    ///   that is not published, a property that is not allowed (SPEC PER-4) or a value of more than 512 octets.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

    /// A central subscribed: from now on, send it updates (SPEC PER-20).
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)

    /// A central unsubscribed from this characteristic or disconnected. A bonded central that disconnects stays
    /// subscribed, without a call (SPEC PER-20, 2.4). `subscribedCentrals` has already changed.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)

    /// A central wants to read a value. Respond once with `respond(to:withResult:)` (SPEC PER-16). Without this method,
    /// such requests are rejected.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

    /// A central wants to write values. Respond once, with the first of the requests (SPEC PER-18). Without this
    /// method, such requests are rejected.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

    /// There is room for updates again after `updateValue` returned false (SPEC PER-22).
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

    /// Follows `publishL2CAPChannel(withEncryption:)`.
    /// - Parameters:
    ///   - PSM: the PSM with which centrals can open channels, 0x0080 to 0x00FF; 0 if there is an error.
    ///   - error: `CBError.outOfSpace` if no PSM is free.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    /// Follows `unpublishL2CAPChannel(_:)`. The channels that centrals opened to it end as well (SPEC 2.4).
    /// - Parameter error: `CBError.invalidParameters` if this manager does not offer that PSM.
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    /// A central has opened a channel to a published PSM. Keep the channel: it closes when its last reference goes.
    /// - Parameter error: always `nil`: only the central learns of a channel that could not be opened.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
