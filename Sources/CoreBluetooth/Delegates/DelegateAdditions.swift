// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

// Each protocol repeats the optional methods of another, and has a separate conformance for them: Swift then calls
// those of the class that declares it, and no optimizer removes them. `@_nonoverride` says that the methods are not
// those of the inherited protocol.

/// A class that adds optional methods to those of a superclass, which is the central manager's delegate already.
///
///     class RestorableDelegate: BaseDelegate, CBCentralManagerDelegateAdditions {
///         func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
///     }
///
/// Without it, the methods are found by what the build plugin `DelegateMethods` wrote, or by their names in the
/// program's file, which an optimizer may have removed (<doc:ComingFromApple>). There is no such protocol on Apple's
/// system: declare the conformance in an extension within `#if os(Linux)` if the source is for both.
public protocol CBCentralManagerDelegateAdditions: CBCentralManagerDelegate {
    @_nonoverride func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
    @_nonoverride func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)
    @_nonoverride func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
    @_nonoverride func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)
    @_nonoverride func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)
    @_nonoverride func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)
    @_nonoverride func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)
    @_nonoverride func centralManager(
        _ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

/// The same as `CBCentralManagerDelegateAdditions`, for the methods of `CBPeripheralDelegate`.
public protocol CBPeripheralDelegateAdditions: CBPeripheralDelegate {
    @_nonoverride func peripheralDidUpdateName(_ peripheral: CBPeripheral)
    @_nonoverride func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
    @_nonoverride func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)
    @_nonoverride func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)
    @_nonoverride func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)
    @_nonoverride func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)
    @_nonoverride func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)
    @_nonoverride func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

/// The same as `CBCentralManagerDelegateAdditions`, for the methods of `CBPeripheralManagerDelegate`.
public protocol CBPeripheralManagerDelegateAdditions: CBPeripheralManagerDelegate {
    @_nonoverride func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
    @_nonoverride func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)
    @_nonoverride func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
    @_nonoverride func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
    @_nonoverride func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
    @_nonoverride func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
