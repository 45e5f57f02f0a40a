// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import ForeignDelegates
import Testing

@testable import CoreBluetooth

/// That an app's method is the one that the protocol asks for: called through the protocol, it is the one that runs,
/// also where a subclass of the class that conforms adds it.
@Suite("Methods of the delegates (SPEC 2.3, 2.4)")
struct DelegateSymbolTests {
    private let peripheral: CBPeripheral
    private let central: CBCentral
    private let centralManager: CBCentralManager
    private let peripheralManager: CBPeripheralManager
    private let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    private let characteristic = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    private let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Beats")

    init() throws {
        let system = try Stage().launch()
        let someone = PeerIdentifier(high: 1, low: 2)
        (centralManager, peripheralManager) = CurrentSystem.$override.withValue(system) {
            (CBCentralManager(delegate: nil, queue: .global()), CBPeripheralManager(delegate: nil, queue: .global()))
        }
        peripheral = CBPeripheral(
            PeripheralDescription(identifier: someone), channel: centralManager.channel, table: centralManager.known)
        central = CBCentral(CentralDescription(identifier: someone, maximumUpdateLength: 20))
    }

    @Test("CBCentralManagerDelegate", arguments: [false, true])
    func centralDelegate(isLate: Bool) {
        let recorder: any Recording = isLate ? LateRecorder() : Recorder()
        let delegate: any CBCentralManagerDelegate = recorder
        delegate.centralManagerDidUpdateState(centralManager)
        delegate.centralManager(centralManager, willRestoreState: [:])
        delegate.centralManager(centralManager, didDiscover: peripheral, advertisementData: [:], rssi: 0)
        delegate.centralManager(centralManager, didConnect: peripheral)
        delegate.centralManager(centralManager, didFailToConnect: peripheral, error: nil)
        delegate.centralManager(centralManager, didDisconnectPeripheral: peripheral, error: nil)
        delegate.centralManager(
            centralManager, didDisconnectPeripheral: peripheral, timestamp: 0, isReconnecting: true, error: nil)
        delegate.centralManager(centralManager, connectionEventDidOccur: .peerConnected, for: peripheral)
        delegate.centralManager(centralManager, didUpdateANCSAuthorizationFor: peripheral)
        // Nothing here tells the last one, which an app on Apple's system may be told.
        #expect(recorder.calls == Array(1...(isLate ? 8 : 9)))
    }

    @Test("CBPeripheralDelegate", arguments: [false, true])
    func peripheralDelegate(isLate: Bool) {
        let recorder: any Recording = isLate ? LateRecorder() : Recorder()
        let delegate: any CBPeripheralDelegate = recorder
        delegate.peripheralDidUpdateName(peripheral)
        delegate.peripheral(peripheral, didModifyServices: [service])
        delegate.peripheral(peripheral, didReadRSSI: -40, error: nil)
        delegate.peripheral(peripheral, didDiscoverServices: nil)
        delegate.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: nil)
        delegate.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: nil)
        delegate.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didWriteValueFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: nil)
        delegate.peripheral(peripheral, didUpdateValueFor: descriptor, error: nil)
        delegate.peripheral(peripheral, didWriteValueFor: descriptor, error: nil)
        delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        delegate.peripheral(peripheral, didOpen: nil, error: nil)
        #expect(recorder.calls == Array(11...24))
    }

    @Test("CBPeripheralManagerDelegate", arguments: [false, true])
    func peripheralManagerDelegate(isLate: Bool) {
        let recorder: any Recording = isLate ? LateRecorder() : Recorder()
        let delegate: any CBPeripheralManagerDelegate = recorder
        let request = CBATTRequest(
            id: ATTRequestID(rawValue: 1), isRead: true, central: central, characteristic: characteristic, offset: 0,
            value: nil)
        delegate.peripheralManagerDidUpdateState(peripheralManager)
        delegate.peripheralManager(peripheralManager, willRestoreState: [:])
        delegate.peripheralManagerDidStartAdvertising(peripheralManager, error: nil)
        delegate.peripheralManager(peripheralManager, didAdd: service, error: nil)
        delegate.peripheralManager(peripheralManager, central: central, didSubscribeTo: characteristic)
        delegate.peripheralManager(peripheralManager, central: central, didUnsubscribeFrom: characteristic)
        delegate.peripheralManager(peripheralManager, didReceiveRead: request)
        delegate.peripheralManager(peripheralManager, didReceiveWrite: [request])
        delegate.peripheralManagerIsReady(toUpdateSubscribers: peripheralManager)
        delegate.peripheralManager(peripheralManager, didPublishL2CAPChannel: 0x80, error: nil)
        delegate.peripheralManager(peripheralManager, didUnpublishL2CAPChannel: 0x80, error: nil)
        delegate.peripheralManager(peripheralManager, didOpen: nil, error: nil)
        #expect(recorder.calls == Array(31...42))
    }

    @Test(
        "without a table, the program's file has the name of each method",
        .enabled(if: _isDebugAssertConfiguration(), "an optimizer removes them"))
    func names() throws {
        let methods = try #require(ClassSymbols(LateRecorder.self)).methods
        let names = DelegateMethodName.central + DelegateMethodName.peripheral + DelegateMethodName.peripheralManager
        #expect(names.count == 33)
        // Of the two calls for the signal strength, the recorder has the newer one.
        for name in names where name.text != "peripheralDidUpdateRSSI(_:error:)" {
            #expect(methods[name.signature].map { $0 != .removed } == true, "\(name.signature)")
        }
    }
}

/// What is told in numbers.
private protocol Recording: CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    var calls: [Int] { get }
}

/// Each method in Apple's order and with Apple's signature, numbered.
private final class Recorder: NSObject, Recording {
    var calls: [Int] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) { calls.append(1) }
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) { calls.append(2) }
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) { calls.append(3) }
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { calls.append(4) }
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        calls.append(5)
    }
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { calls.append(6) }
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) { calls.append(7) }
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) { calls.append(8) }
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        calls.append(9)
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { calls.append(11) }
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        calls.append(12)
    }
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) { calls.append(13) }
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { calls.append(14) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) { calls.append(15) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) { calls.append(16) }
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(17) }
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(18) }
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) { calls.append(19) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(20) }
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        calls.append(21)
    }
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        calls.append(22)
    }
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { calls.append(23) }
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        calls.append(24)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { calls.append(31) }
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        calls.append(32)
    }
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        calls.append(33)
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        calls.append(34)
    }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) { calls.append(35) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) { calls.append(36) }
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        calls.append(37)
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        calls.append(38)
    }
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { calls.append(39) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { calls.append(40) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { calls.append(41) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) { calls.append(42) }
}

/// The same in a subclass of a delegate of another module.
final class LateRecorder: BareDelegate, Recording {
    var calls: [Int] = []

    override func centralManagerDidUpdateState(_ central: CBCentralManager) { calls.append(1) }
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) { calls.append(2) }
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) { calls.append(3) }
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { calls.append(4) }
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        calls.append(5)
    }
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { calls.append(6) }
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) { calls.append(7) }
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) { calls.append(8) }
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        calls.append(9)
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { calls.append(11) }
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        calls.append(12)
    }
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) { calls.append(13) }
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { calls.append(14) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) { calls.append(15) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) { calls.append(16) }
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(17) }
    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(18) }
    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) { calls.append(19) }
    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) { calls.append(20) }
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        calls.append(21)
    }
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        calls.append(22)
    }
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { calls.append(23) }
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        calls.append(24)
    }

    override func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { calls.append(31) }
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        calls.append(32)
    }
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        calls.append(33)
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        calls.append(34)
    }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) { calls.append(35) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) { calls.append(36) }
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        calls.append(37)
    }
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        calls.append(38)
    }
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { calls.append(39) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { calls.append(40) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { calls.append(41) }
    func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) { calls.append(42) }
}
