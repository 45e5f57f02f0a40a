// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// What happens to a central manager (SPEC CEN-2 to CEN-9).
///
/// `centralManagerDidUpdateState` is the one that must be there. The others have a default that does nothing, so that
/// they may be left out as on Apple's system. A subclass of a class that conforms already cannot bring one of those in
/// later: Swift chooses the default for the class that declares the conformance.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; the first call comes soon after the manager was made.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The first call of all where a preserved manager is restored (SPEC SPR-10).
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was heard. Keep `peripheral` to connect to it (SPEC CEN-6).
    /// - Parameter RSSI: dBm; 127 when it is unknown.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

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

extension CBCentralManagerDelegate {
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        central.channel.log(.restorationNotImplemented(.central))
    }

    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    public func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {}

    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}

    /// Calls the older form.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    public func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}

    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}
