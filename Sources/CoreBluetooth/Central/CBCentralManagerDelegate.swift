// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// What happens to a central manager (SPEC CEN-2 to CEN-9).
///
/// `centralManagerDidUpdateState` is the one that must be there. The others have a default that does nothing, so that
/// they may be left out as on Apple's system. A subclass of a class that conforms already may add them; where an optimizer
/// has removed such a method, the log says so (<doc:ComingFromApple>).
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; the first call comes soon after the manager was made.
    /// Below `.poweredOn` the scan is over and connections are gone, with no other call for them; below `.poweredOff`
    /// all peripherals have to be found or retrieved again (SPEC 2.3).
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The first call of all where a preserved manager is restored (SPEC SPR-10).
    /// - Parameter dict: under the keys that begin with `CBCentralManagerRestoredState`, as far as there was something:
    ///   the peripherals, the services scanned for and the options of that scan (SPEC SPR-12).
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was heard. Keep `peripheral` to connect to it (SPEC CEN-6).
    /// Called once for a device and again when what it advertises changes; where duplicates are allowed, for each
    /// packet (SPEC CEN-25 to CEN-27).
    /// - Parameter RSSI: dBm; 127 when it is unknown.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// The connection can be used: ATT_MTU has been agreed on, or the device took longer than 5 s to do so (SPEC CEN-8,
    /// 2.3).
    ///
    /// Follows `connect(_:options:)`, however long that takes, at once where the connection stands already; and,
    /// unasked, a loss after which the system connects again by itself. What was discovered over an earlier connection
    /// stands for nothing.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// The wish for a connection is over without one; a device that is merely away never causes this (SPEC CEN-9,
    /// REC-5).
    /// - Parameter error: never `nil`: `CBError.unknownDevice` where the system does not know the identifier,
    ///   `.connectionLimitReached` where no more connections can be held, else what the controller's reason means, or
    ///   `.connectionFailed`.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// The connection is over for this manager, or the wish for one was cancelled (SPEC CEN-24). What was asked of the
    /// peripheral and not answered ends with it: no call of its delegate follows. Not called when Bluetooth goes off:
    /// the state tells that.
    /// - Parameter error: `nil` where the app itself ended the connection.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

    /// Takes the place of the older form where it is implemented (SPEC 2.3).
    /// - Parameters:
    ///   - timestamp: when the connection ended, in seconds since 2001.
    ///   - isReconnecting: whether the system connects again by itself.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// Follows `registerForConnectionEvents(options:)`.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// Never called on Linux: no accessory uses the Apple Notification Center Service here.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}
