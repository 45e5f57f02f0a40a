// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The defaults of optional methods: they look for the method in a subclass.
extension CBCentralManagerDelegate {
    /// Writes a line to the log: a manager with a restore identifier needs this method (SPEC SPR-9).
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let outcome = Methods.willRestoreState.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, dict),
            added: { $0.centralManager(central, willRestoreState: dict) },
            found: { $0.call(central, dict) })
        if case .absent = outcome { central.channel.log(.restorationNotImplemented(.central)) }
    }

    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        Methods.didDiscover.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, peripheral, advertisementData, RSSI),
            added: {
                $0.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
            },
            found: { $0.call(central, peripheral, advertisementData, RSSI) })
    }

    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        Methods.didConnect.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, peripheral),
            added: { $0.centralManager(central, didConnect: peripheral) },
            found: { $0.call(central, peripheral) })
    }

    public func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        Methods.didFailToConnect.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, peripheral, error),
            added: { $0.centralManager(central, didFailToConnect: peripheral, error: error) },
            found: { $0.call(central, peripheral, error) })
    }

    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        Methods.didDisconnect.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, peripheral, error),
            added: { $0.centralManager(central, didDisconnectPeripheral: peripheral, error: error) },
            found: { $0.call(central, peripheral, error) })
    }

    /// Calls the older form.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        let outcome = Methods.didDisconnectAt.call(
            on: self, as: Methods.kind, log: central.channel,
            with: (central, peripheral, timestamp, isReconnecting, error),
            added: {
                $0.centralManager(
                    central, didDisconnectPeripheral: peripheral, timestamp: timestamp, isReconnecting: isReconnecting,
                    error: error)
            },
            found: { $0.call(central, peripheral, timestamp, isReconnecting, error) })
        if case .called = outcome { return }
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    public func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        Methods.connectionEvent.call(
            on: self, as: Methods.kind, log: central.channel, with: (central, event, peripheral),
            added: { $0.centralManager(central, connectionEventDidOccur: event, for: peripheral) },
            found: { $0.call(central, event, peripheral) })
    }

    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}

extension DelegateMethodName {
    /// The optional methods of `CBCentralManagerDelegate` that are looked for in subclasses.
    static var central: [DelegateMethodName] { Methods.kind.methods }
}

extension CBCentralManagerDelegate {
    /// Reports optional methods of this delegate that exist and cannot be called.
    func reportUncallableMethods(to channel: ManagerChannel) {
        SubclassMethods.check(self, as: Methods.kind, log: channel.log)
    }
}

/// The optional methods and how to call them.
private enum Methods {
    private static let manager = "CoreBluetooth.CBCentralManager"
    private static let peripheral = "CoreBluetooth.CBPeripheral"
    private static let dictionary = "Swift.Dictionary<Swift.String, Any>"
    private static let error = "Swift.Optional<Swift.Error>"

    static let kind = DelegateKind<any CBCentralManagerDelegateAdditions>(
        conforms: { $0 is any CBCentralManagerDelegate.Type },
        adds: { $0 is any CBCentralManagerDelegateAdditions.Type },
        additions: { $0 as? any CBCentralManagerDelegateAdditions },
        methods: [
            willRestoreState.name, didDiscover.name, didConnect.name, didFailToConnect.name, didDisconnect.name,
            didDisconnectAt.name, connectionEvent.name,
        ])

    struct Restoring { let call: (CBCentralManager, [String: Any]) -> Void }
    static let willRestoreState = DelegateMethod<Restoring>(
        "centralManager", ["_": manager, "willRestoreState": dictionary])

    struct Discovering { let call: (CBCentralManager, CBPeripheral, [String: Any], NSNumber) -> Void }
    static let didDiscover = DelegateMethod<Discovering>(
        "centralManager",
        ["_": manager, "didDiscover": peripheral, "advertisementData": dictionary, "rssi": "Foundation.NSNumber"])

    struct Connecting { let call: (CBCentralManager, CBPeripheral) -> Void }
    static let didConnect = DelegateMethod<Connecting>("centralManager", ["_": manager, "didConnect": peripheral])

    struct Ending { let call: (CBCentralManager, CBPeripheral, (any Error)?) -> Void }
    static let didFailToConnect = DelegateMethod<Ending>(
        "centralManager", ["_": manager, "didFailToConnect": peripheral, "error": error])
    static let didDisconnect = DelegateMethod<Ending>(
        "centralManager", ["_": manager, "didDisconnectPeripheral": peripheral, "error": error])

    struct EndingAt { let call: (CBCentralManager, CBPeripheral, CFAbsoluteTime, Bool, (any Error)?) -> Void }
    static let didDisconnectAt = DelegateMethod<EndingAt>(
        "centralManager",
        [
            "_": manager, "didDisconnectPeripheral": peripheral, "timestamp": "Swift.Double",
            "isReconnecting": "Swift.Bool", "error": error,
        ])

    struct Watching { let call: (CBCentralManager, CBConnectionEvent, CBPeripheral) -> Void }
    static let connectionEvent = DelegateMethod<Watching>(
        "centralManager",
        ["_": manager, "connectionEventDidOccur": "CoreBluetooth.CBConnectionEvent", "for": peripheral])
}
