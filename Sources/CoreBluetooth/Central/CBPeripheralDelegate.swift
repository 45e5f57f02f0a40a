// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The events of a remote peripheral (SPEC CEN-10 to CEN-20). All methods are optional; what `CBCentralManagerDelegate`
/// says about subclasses applies here too.
///
/// The calls come on the manager's queue, in the order of the responses; the objects have changed by then. Requests are
/// carried out one after another, and one call follows each, unless the connection ends first: then only the manager's
/// delegate is called. Requests to a peripheral that is not connected are dropped with a line in the log.
///
/// An error is one of these: the peripheral's error code as a `CBATTError`, or as an `NSError` of that domain if the
/// code has no name; or a `CBError`: `.invalidHandle` if the attribute no longer exists, `.connectionTimeout` if the
/// peripheral was silent for 30 s, `.outOfSpace` if too many requests are waiting, `.unknown` for a response that
/// breaks the protocol. If a peripheral rejects a request for lack of security, the system pairs and repeats the
/// request; the app receives the error only if that did not help (SPEC 2.3).
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// The device's name, read soon after it connected, differs from the name known so far (SPEC 2.3).
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)
    /// The device reported that its attributes changed (Service Changed); the array is empty if no discovered service
    /// is affected.
    /// These services are no longer valid: discover them again (SPEC 2.3).
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
    /// Follows `readRSSI()`.
    /// - Parameter RSSI: dBm; 127 if there is an error.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)
    /// Follows `readRSSI()` where the delegate has no `peripheral(_:didReadRSSI:error:)`; the number is in
    /// `CBPeripheral.rssi`. Deprecated on Apple's system.
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)
    /// Follows `discoverServices(_:)`: `services` has all that were found, including earlier ones (SPEC CEN-11). It is
    /// not an error if the peripheral lacks the requested services.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)
    /// Follows `discoverIncludedServices(_:for:)`: `service.includedServices` has all that were found, including
    /// earlier ones.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    /// Follows `discoverCharacteristics(_:for:)`: `service.characteristics` has all that were found, including earlier
    /// ones (SPEC CEN-12).
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)
    /// A value was read, or arrived in a notification or indication (SPEC CEN-13, CEN-17).
    /// Only a read can have an error; `value` then stays as it was.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows each write with a response, successful or not (SPEC CEN-19); never one without (SPEC CEN-20).
    /// - Parameter error: `CBATTError.invalidAttributeValueLength`, without a request to the peripheral, if the value
    ///   has more than 512 octets.
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows `setNotifyValue(_:for:)`: `isNotifying` is the new state (SPEC CEN-15, CEN-18).
    /// - Parameter error: `CBATTError.requestNotSupported` if the characteristic has neither notifications nor
    ///   indications (SPEC CEN-16), or no Client Characteristic Configuration.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)
    /// Follows `discoverDescriptors(for:)`: `characteristic.descriptors` has those that were found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows `readValue(for:)` of a descriptor; the value is in `descriptor.value`, which stays as it was if there is
    /// an error.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// Follows `writeValue(_:for:)` of a descriptor, successful or not.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// There is room for writes without response again.
    /// Called after `canSendWriteWithoutResponse` became false, unless further writes have filled the queue again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)
    /// Follows `openL2CAPChannel(_:)`. Keep the channel: it closes when its last reference goes.
    /// - Parameters:
    ///   - channel: `nil` if there is an error.
    ///   - error: `CBError.operationNotSupported` if the peripheral offers no channel with the PSM,
    ///     `.invalidParameters` if the PSM is not between 0x0001 and 0x00FF, `.outOfSpace` if one side has no
    ///     resources, `.connectionFailed` for another refusal; `CBATTError.insufficientAuthentication`,
    ///     `.insufficientEncryption`, `.insufficientEncryptionKeySize` and `.insufficientAuthorization` if the
    ///     peripheral requires more security.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
