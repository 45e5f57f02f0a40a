// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// What happens to a remote peripheral (SPEC CEN-10 to CEN-20). All methods may be left out;
/// what `CBCentralManagerDelegate` says of subclasses holds here too.
///
/// The calls come on the manager's queue, in the order in which the answers came; the objects have changed by then.
/// Requests are carried out one after another, and each is followed by one call, unless the connection ends before:
/// then only the manager's delegate is told. Requests to a peripheral that is not connected are dropped with a line in
/// the log.
///
/// An error is what the peripheral answered, a `CBATTError` or, where it has no name for the octet, an `NSError` of
/// that domain; or a `CBError`: `.invalidHandle` for what is no more, `.connectionTimeout` where the peripheral was
/// silent for 30 s, `.outOfSpace` where too many requests wait, `.unknown` for an answer that breaks the protocol. What
/// a peripheral refuses for lack of security is asked again after pairing, and told only when that was in vain
/// (SPEC 2.3).
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// The name that the device gives when it is asked, soon after it was connected, is another than was known so far
    /// (SPEC 2.3).
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)
    /// The device has told that its attributes changed; the array is empty where that concerns no service that was
    /// discovered.
    /// These services stand for nothing any more: discover them again (SPEC 2.3).
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])
    /// Follows `readRSSI()`; with an error the number is 127.
    /// - Parameter RSSI: dBm.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)
    /// Follows `readRSSI()` where the delegate has no `peripheral(_:didReadRSSI:error:)`; the number is in
    /// `CBPeripheral.rssi`. Deprecated on Apple's system.
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)
    /// Follows `discoverServices(_:)`: `services` has all that were found, also those found earlier (SPEC CEN-11).
    /// Services that were looked for and are not there are no error.
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)
    /// Follows `discoverIncludedServices(_:for:)`: `service.includedServices` has all that were found, also those found
    /// earlier.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    /// Follows `discoverCharacteristics(_:for:)`: `service.characteristics` has all that were found, also those found
    /// earlier (SPEC CEN-12).
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)
    /// A value was read, or came by notification or indication (SPEC CEN-13, CEN-17).
    /// With an error, which only a read has, `value` stays as it was.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows each write with a response, whatever its end (SPEC CEN-19); never one without (SPEC CEN-20).
    /// - Parameter error: `CBATTError.invalidAttributeValueLength` without the peripheral's having been asked when the
    ///   value has more than 512 octets.
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows `setNotifyValue(_:for:)`: `isNotifying` says how things stand now (SPEC CEN-15, CEN-18).
    /// - Parameter error: `CBATTError.requestNotSupported` where the characteristic has neither notifications nor
    ///   indications (SPEC CEN-16), or no configuration to write.
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?)
    /// Follows `discoverDescriptors(for:)`: `characteristic.descriptors` has what was found.
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
    /// Follows `readValue(for:)` of a descriptor; the value is in `descriptor.value`, which an error leaves as it was.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// Follows `writeValue(_:for:)` of a descriptor, whatever its end.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)
    /// There is room for writes without response again.
    /// Follows `canSendWriteWithoutResponse`'s having become false, unless further writes have filled the queue again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)
    /// Follows `openL2CAPChannel(_:)`. Keep the channel: it closes when the last reference goes.
    /// - Parameters:
    ///   - channel: `nil` where there is an error.
    ///   - error: `CBError.operationNotSupported` where nothing is offered under the number, `.invalidParameters` where
    ///     it is none of 0x0001 to 0x00FF, `.outOfSpace` where one side has no room, `.connectionFailed` for another
    ///     refusal; `CBATTError.insufficientAuthentication`, `.insufficientEncryption`,
    ///     `.insufficientEncryptionKeySize` and `.insufficientAuthorization` where the peripheral demands more
    ///     security.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}
