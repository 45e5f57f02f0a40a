// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The events of a central manager (SPEC CEN-2 to CEN-9).
///
/// Only `centralManagerDidUpdateState` is required. The other methods have a default that does nothing, so they are
/// optional as on Apple's system. A subclass of a conforming class may add them; if an optimizer has removed such a
/// method, the log says so (<doc:ComingFromApple>).
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; the first call comes soon after the manager was created.
    /// Below `.poweredOn` the scan and all connections have ended, without further calls unless it is `.resetting`; below
    /// `.poweredOff` the app has to discover or retrieve all peripherals again (SPEC 2.3).
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The first call of all, when a preserved manager is restored (SPEC SPR-10).
    /// - Parameter dict: its keys begin with `CBCentralManagerRestoredState`. It has what was preserved: the
    ///   peripherals, the services of the scan and the options of that scan (SPEC SPR-12).
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was discovered. Keep `peripheral` to connect to it (SPEC CEN-6).
    /// Called once per device and again when its advertisement changes; if duplicates are allowed, for each packet
    /// (SPEC CEN-25 to CEN-27).
    /// - Parameter RSSI: dBm; 127 when it is unknown.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// The connection is ready: ATT_MTU has been exchanged, or the device took longer than 5 s to do so (SPEC CEN-8,
    /// 2.3).
    ///
    /// Follows `connect(_:options:)`, however long that takes, and at once if the connection exists already. It also
    /// follows a lost connection that the system has established again by itself. Attributes that were discovered over
    /// an earlier connection are no longer valid, except those of a peripheral that was restored as connecting.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// The connection attempt failed. A device that is merely away never causes this (SPEC CEN-9, REC-5).
    /// - Parameter error: never `nil`: `CBError.unknownDevice` if the system does not know the identifier,
    ///   `.connectionLimitReached` if the limit of connections is reached, otherwise the error of the controller's
    ///   reason, or `.connectionFailed`.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// This manager's connection ended, or the app cancelled its connection attempt (SPEC CEN-24). Pending requests to
    /// the peripheral end with it: its delegate receives no call for them. After `.resetting` it is called for each
    /// connection that was lost. Not called when Bluetooth is turned off: then the state changes.
    /// - Parameter error: `nil` if the app itself ended the connection.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

    /// Called instead of the older form if the delegate implements it (SPEC 2.3).
    /// - Parameters:
    ///   - timestamp: when the connection ended, in seconds since 2001.
    ///   - isReconnecting: whether the system connects again by itself.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// A matching peripheral connected or disconnected; follows `registerForConnectionEvents(options:)`.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// Never called on Linux: here no accessory uses the Apple Notification Center Service.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}
