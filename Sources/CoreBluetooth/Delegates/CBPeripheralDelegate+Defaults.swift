// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The defaults of optional methods: they look for the method in a subclass.
extension CBPeripheralDelegate {
    public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        Methods.didUpdateName.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: peripheral,
            added: { $0.peripheralDidUpdateName(peripheral) },
            found: { $0.call(peripheral) })
    }

    public func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        Methods.didModifyServices.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, invalidatedServices),
            added: { $0.peripheral(peripheral, didModifyServices: invalidatedServices) },
            found: { $0.call(peripheral, invalidatedServices) })
    }

    /// Calls the older form.
    public func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        let outcome = Methods.didReadRSSI.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, RSSI, error),
            added: { $0.peripheral(peripheral, didReadRSSI: RSSI, error: error) },
            found: { $0.call(peripheral, RSSI, error) })
        if case .called = outcome { return }
        peripheralDidUpdateRSSI(peripheral, error: error)
    }

    public func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {
        Methods.didUpdateRSSI.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, error),
            added: { $0.peripheralDidUpdateRSSI(peripheral, error: error) },
            found: { $0.call(peripheral, error) })
    }

    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        Methods.didDiscoverServices.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, error),
            added: { $0.peripheral(peripheral, didDiscoverServices: error) },
            found: { $0.call(peripheral, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        Methods.didDiscoverIncludedServices.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, service, error),
            added: { $0.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error) },
            found: { $0.call(peripheral, service, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        Methods.didDiscoverCharacteristics.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, service, error),
            added: { $0.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error) },
            found: { $0.call(peripheral, service, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        Methods.didUpdateValue.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, characteristic, error),
            added: { $0.peripheral(peripheral, didUpdateValueFor: characteristic, error: error) },
            found: { $0.call(peripheral, characteristic, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        Methods.didWriteValue.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, characteristic, error),
            added: { $0.peripheral(peripheral, didWriteValueFor: characteristic, error: error) },
            found: { $0.call(peripheral, characteristic, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        Methods.didUpdateNotificationState.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, characteristic, error),
            added: { $0.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error) },
            found: { $0.call(peripheral, characteristic, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        Methods.didDiscoverDescriptors.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, characteristic, error),
            added: { $0.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error) },
            found: { $0.call(peripheral, characteristic, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        Methods.didUpdateDescriptor.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, descriptor, error),
            added: { $0.peripheral(peripheral, didUpdateValueFor: descriptor, error: error) },
            found: { $0.call(peripheral, descriptor, error) })
    }

    public func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        Methods.didWriteDescriptor.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, descriptor, error),
            added: { $0.peripheral(peripheral, didWriteValueFor: descriptor, error: error) },
            found: { $0.call(peripheral, descriptor, error) })
    }

    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        Methods.isReady.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: peripheral,
            added: { $0.peripheralIsReady(toSendWriteWithoutResponse: peripheral) },
            found: { $0.call(peripheral) })
    }

    public func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        Methods.didOpen.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, channel, error),
            added: { $0.peripheral(peripheral, didOpen: channel, error: error) },
            found: { $0.call(peripheral, channel, error) })
    }
}

extension DelegateMethodName {
    /// The optional methods of `CBPeripheralDelegate` that are looked for in subclasses.
    static var peripheral: [DelegateMethodName] { Methods.kind.methods }
}

extension CBPeripheralDelegate {
    /// Reports optional methods of this delegate that exist and cannot be called.
    func reportUncallableMethods(to channel: ManagerChannel) {
        SubclassMethods.check(self, as: Methods.kind, log: channel.log)
    }
}

/// The optional methods and how to call them.
private enum Methods {
    private static let peripheral = "CoreBluetooth.CBPeripheral"
    private static let service = "CoreBluetooth.CBService"
    private static let characteristic = "CoreBluetooth.CBCharacteristic"
    private static let descriptor = "CoreBluetooth.CBDescriptor"
    private static let error = "Swift.Optional<Swift.Error>"

    static let kind = DelegateKind<any CBPeripheralDelegateAdditions>(
        conforms: { $0 is any CBPeripheralDelegate.Type }, adds: { $0 is any CBPeripheralDelegateAdditions.Type },
        additions: { $0 as? any CBPeripheralDelegateAdditions },
        methods: [
            didUpdateName.name, isReady.name, didModifyServices.name, didReadRSSI.name, didUpdateRSSI.name,
            didDiscoverServices.name, didDiscoverIncludedServices.name, didDiscoverCharacteristics.name,
            didUpdateValue.name, didWriteValue.name, didUpdateNotificationState.name, didDiscoverDescriptors.name,
            didUpdateDescriptor.name, didWriteDescriptor.name, didOpen.name,
        ])

    struct Plain { let call: (CBPeripheral) -> Void }
    static let didUpdateName = DelegateMethod<Plain>("peripheralDidUpdateName", ["_": peripheral])
    static let isReady = DelegateMethod<Plain>(
        "peripheralIsReady", ["toSendWriteWithoutResponse": peripheral])

    struct Modifying { let call: (CBPeripheral, [CBService]) -> Void }
    static let didModifyServices = DelegateMethod<Modifying>(
        "peripheral", ["_": peripheral, "didModifyServices": "Swift.Array<CoreBluetooth.CBService>"])

    struct ReadingRSSI { let call: (CBPeripheral, NSNumber, (any Error)?) -> Void }
    static let didReadRSSI = DelegateMethod<ReadingRSSI>(
        "peripheral", ["_": peripheral, "didReadRSSI": "Foundation.NSNumber", "error": error])

    struct Ending { let call: (CBPeripheral, (any Error)?) -> Void }
    static let didUpdateRSSI = DelegateMethod<Ending>("peripheralDidUpdateRSSI", ["_": peripheral, "error": error])
    static let didDiscoverServices = DelegateMethod<Ending>(
        "peripheral", ["_": peripheral, "didDiscoverServices": error])

    struct OfService { let call: (CBPeripheral, CBService, (any Error)?) -> Void }
    static let didDiscoverIncludedServices = DelegateMethod<OfService>(
        "peripheral", ["_": peripheral, "didDiscoverIncludedServicesFor": service, "error": error])
    static let didDiscoverCharacteristics = DelegateMethod<OfService>(
        "peripheral", ["_": peripheral, "didDiscoverCharacteristicsFor": service, "error": error])

    struct OfCharacteristic { let call: (CBPeripheral, CBCharacteristic, (any Error)?) -> Void }
    static let didUpdateValue = DelegateMethod<OfCharacteristic>(
        "peripheral", ["_": peripheral, "didUpdateValueFor": characteristic, "error": error])
    static let didWriteValue = DelegateMethod<OfCharacteristic>(
        "peripheral", ["_": peripheral, "didWriteValueFor": characteristic, "error": error])
    static let didUpdateNotificationState = DelegateMethod<OfCharacteristic>(
        "peripheral", ["_": peripheral, "didUpdateNotificationStateFor": characteristic, "error": error])
    static let didDiscoverDescriptors = DelegateMethod<OfCharacteristic>(
        "peripheral", ["_": peripheral, "didDiscoverDescriptorsFor": characteristic, "error": error])

    struct OfDescriptor { let call: (CBPeripheral, CBDescriptor, (any Error)?) -> Void }
    static let didUpdateDescriptor = DelegateMethod<OfDescriptor>(
        "peripheral", ["_": peripheral, "didUpdateValueFor": descriptor, "error": error])
    static let didWriteDescriptor = DelegateMethod<OfDescriptor>(
        "peripheral", ["_": peripheral, "didWriteValueFor": descriptor, "error": error])

    struct Opening { let call: (CBPeripheral, CBL2CAPChannel?, (any Error)?) -> Void }
    static let didOpen = DelegateMethod<Opening>(
        "peripheral", ["_": peripheral, "didOpen": "Swift.Optional<CoreBluetooth.CBL2CAPChannel>", "error": error])
}
