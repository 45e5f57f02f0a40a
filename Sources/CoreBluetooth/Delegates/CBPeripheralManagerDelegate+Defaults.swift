// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The defaults of optional methods: they look for the method in a subclass.
extension CBPeripheralManagerDelegate {
    /// Writes a line to the log: a manager with a restore identifier needs this method (SPEC SPR-9).
    public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let outcome = Methods.willRestoreState.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, dict),
            added: { $0.peripheralManager(peripheral, willRestoreState: dict) },
            found: { $0.call(peripheral, dict) })
        if case .absent = outcome { peripheral.channel.log(.restorationNotImplemented(.peripheral)) }
    }

    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        Methods.didStartAdvertising.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, error),
            added: { $0.peripheralManagerDidStartAdvertising(peripheral, error: error) },
            found: { $0.call(peripheral, error) })
    }

    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        Methods.didAdd.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, service, error),
            added: { $0.peripheralManager(peripheral, didAdd: service, error: error) },
            found: { $0.call(peripheral, service, error) })
    }

    public func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        Methods.didSubscribe.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, central, characteristic),
            added: { $0.peripheralManager(peripheral, central: central, didSubscribeTo: characteristic) },
            found: { $0.call(peripheral, central, characteristic) })
    }

    public func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        Methods.didUnsubscribe.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, central, characteristic),
            added: { $0.peripheralManager(peripheral, central: central, didUnsubscribeFrom: characteristic) },
            found: { $0.call(peripheral, central, characteristic) })
    }

    /// Rejects the request with `CBATTError.requestNotSupported`.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let outcome = Methods.didReceiveRead.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, request),
            added: { $0.peripheralManager(peripheral, didReceiveRead: request) },
            found: { $0.call(peripheral, request) })
        if case .called = outcome { return }
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }

    /// Rejects all requests with `CBATTError.requestNotSupported`.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let outcome = Methods.didReceiveWrite.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, requests),
            added: { $0.peripheralManager(peripheral, didReceiveWrite: requests) },
            found: { $0.call(peripheral, requests) })
        if case .called = outcome { return }
        if let first = requests.first { peripheral.respond(to: first, withResult: .requestNotSupported) }
    }

    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        Methods.isReady.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: peripheral,
            added: { $0.peripheralManagerIsReady(toUpdateSubscribers: peripheral) },
            found: { $0.call(peripheral) })
    }

    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        Methods.didPublish.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, PSM, error),
            added: { $0.peripheralManager(peripheral, didPublishL2CAPChannel: PSM, error: error) },
            found: { $0.call(peripheral, PSM, error) })
    }

    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        Methods.didUnpublish.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, PSM, error),
            added: { $0.peripheralManager(peripheral, didUnpublishL2CAPChannel: PSM, error: error) },
            found: { $0.call(peripheral, PSM, error) })
    }

    public func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) {
        Methods.didOpen.call(
            on: self, as: Methods.kind, log: peripheral.channel, with: (peripheral, channel, error),
            added: { $0.peripheralManager(peripheral, didOpen: channel, error: error) },
            found: { $0.call(peripheral, channel, error) })
    }
}

extension DelegateMethodName {
    /// The optional methods of `CBPeripheralManagerDelegate` that are looked for in subclasses.
    static var peripheralManager: [DelegateMethodName] { Methods.kind.methods }
}

extension CBPeripheralManagerDelegate {
    /// Reports optional methods of this delegate that exist and cannot be called.
    func reportUncallableMethods(to channel: ManagerChannel) {
        SubclassMethods.check(self, as: Methods.kind, log: channel.log)
    }
}

/// The optional methods and how to call them.
private enum Methods {
    private static let manager = "CoreBluetooth.CBPeripheralManager"
    private static let central = "CoreBluetooth.CBCentral"
    private static let characteristic = "CoreBluetooth.CBCharacteristic"
    private static let request = "CoreBluetooth.CBATTRequest"
    private static let error = "Swift.Optional<Swift.Error>"

    static let kind = DelegateKind<any CBPeripheralManagerDelegateAdditions>(
        conforms: { $0 is any CBPeripheralManagerDelegate.Type },
        adds: { $0 is any CBPeripheralManagerDelegateAdditions.Type },
        additions: { $0 as? any CBPeripheralManagerDelegateAdditions },
        methods: [
            willRestoreState.name, didStartAdvertising.name, didAdd.name, didSubscribe.name, didUnsubscribe.name,
            didReceiveRead.name, didReceiveWrite.name, isReady.name, didPublish.name, didUnpublish.name, didOpen.name,
        ])

    struct Restoring { let call: (CBPeripheralManager, [String: Any]) -> Void }
    static let willRestoreState = DelegateMethod<Restoring>(
        "peripheralManager", ["_": manager, "willRestoreState": "Swift.Dictionary<Swift.String, Any>"])

    struct Ending { let call: (CBPeripheralManager, (any Error)?) -> Void }
    static let didStartAdvertising = DelegateMethod<Ending>(
        "peripheralManagerDidStartAdvertising", ["_": manager, "error": error])

    struct Adding { let call: (CBPeripheralManager, CBService, (any Error)?) -> Void }
    static let didAdd = DelegateMethod<Adding>(
        "peripheralManager", ["_": manager, "didAdd": "CoreBluetooth.CBService", "error": error])

    struct Subscribing { let call: (CBPeripheralManager, CBCentral, CBCharacteristic) -> Void }
    static let didSubscribe = DelegateMethod<Subscribing>(
        "peripheralManager", ["_": manager, "central": central, "didSubscribeTo": characteristic])
    static let didUnsubscribe = DelegateMethod<Subscribing>(
        "peripheralManager", ["_": manager, "central": central, "didUnsubscribeFrom": characteristic])

    struct Reading { let call: (CBPeripheralManager, CBATTRequest) -> Void }
    static let didReceiveRead = DelegateMethod<Reading>(
        "peripheralManager", ["_": manager, "didReceiveRead": request])

    struct Writing { let call: (CBPeripheralManager, [CBATTRequest]) -> Void }
    static let didReceiveWrite = DelegateMethod<Writing>(
        "peripheralManager", ["_": manager, "didReceiveWrite": "Swift.Array<\(request)>"])

    struct Plain { let call: (CBPeripheralManager) -> Void }
    static let isReady = DelegateMethod<Plain>("peripheralManagerIsReady", ["toUpdateSubscribers": manager])

    struct Offering { let call: (CBPeripheralManager, CBL2CAPPSM, (any Error)?) -> Void }
    static let didPublish = DelegateMethod<Offering>(
        "peripheralManager", ["_": manager, "didPublishL2CAPChannel": "Swift.UInt16", "error": error])
    static let didUnpublish = DelegateMethod<Offering>(
        "peripheralManager", ["_": manager, "didUnpublishL2CAPChannel": "Swift.UInt16", "error": error])

    struct Opening { let call: (CBPeripheralManager, CBL2CAPChannel?, (any Error)?) -> Void }
    static let didOpen = DelegateMethod<Opening>(
        "peripheralManager", ["_": manager, "didOpen": "Swift.Optional<CoreBluetooth.CBL2CAPChannel>", "error": error])
}
