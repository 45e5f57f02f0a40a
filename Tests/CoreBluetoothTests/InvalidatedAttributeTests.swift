// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEPackets
import Foundation
import Testing

@testable import BLEAppLifecycle
@testable import CoreBluetooth

/// What becomes of requests about attributes that a peripheral has no longer.
@Suite("Attributes that Service Changed took away")
struct InvalidatedAttributeTests {
    private static let peer = PeerIdentifier(high: 1, low: 2)
    private static let characteristic = RemoteCharacteristic(
        id: RemoteAttributeID(rawValue: 2), uuid: BluetoothUUID(UInt16(0x2A39)), properties: 0x1A, isNotifying: false,
        descriptors: [RemoteDescriptor(id: RemoteAttributeID(rawValue: 4), uuid: BluetoothUUID(UInt16(0x2901)))],
        valueHandle: 3, endHandle: 4, configuration: nil)
    private static let service = RemoteService(
        id: RemoteAttributeID(rawValue: 1), uuid: BluetoothUUID(UInt16(0x180D)), isPrimary: true, endHandle: 4,
        characteristics: [characteristic])

    private let system = ScriptedSystem()
    private let listener = Listener()

    /// A connected peripheral with one service.
    private func connected() throws -> CBPeripheral {
        listener.manager = CurrentSystem.$override.withValue(system) {
            CBCentralManager(delegate: listener, queue: listener.queue)
        }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        listener.manager.scanForPeripherals(withServices: nil)
        system.deliver(.discovered(PeripheralDescription(identifier: Self.peer, name: "Belt"), .init(), rssi: -40))
        listener.settle()
        let peripheral = try #require(listener.peripheral)
        peripheral.delegate = listener
        connect()
        return peripheral
    }

    private func connect() {
        system.deliver(.connected(PeripheralDescription(identifier: Self.peer), maximumWriteLength: WriteLimits()))
        deliver(.servicesDiscovered([Self.service], nil))
    }

    private func deliver(_ event: PeripheralEvent) {
        system.deliver(.peripheral(Self.peer, event))
        listener.settle()
    }

    @Test("a request about such an attribute ends with invalidHandle; a write without response with nothing (CEN-19)")
    func requestsEnd() throws {
        let peripheral = try connected()
        let service = try #require(peripheral.services?.first)
        let characteristic = try #require(service.characteristics?.first)
        let descriptor = try #require(characteristic.descriptors?.first)
        deliver(.servicesModified(invalidated: [Self.service.id]))
        _ = system.takeRequests()
        listener.forget()
        peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        peripheral.readValue(for: characteristic)
        peripheral.setNotifyValue(true, for: characteristic)
        peripheral.writeValue(Data([1]), for: descriptor)
        peripheral.readValue(for: descriptor)
        peripheral.discoverCharacteristics(nil, for: service)
        peripheral.discoverIncludedServices(nil, for: service)
        peripheral.discoverDescriptors(for: characteristic)
        listener.settle()
        let names = [
            "written 2A39", "value 2A39", "notifying 2A39", "written 2901", "value 2901", "characteristics 180D",
            "included 180D", "descriptors 2A39",
        ]
        #expect(listener.calls == names.map { "\($0) CBErrorDomain 2" })
        #expect(system.takeRequests().isEmpty)
        #expect(system.logs.count == 9)
    }

    @Test("operations under way on a removed attribute end (CEN-19); a new link leaves none behind")
    func underWay() throws {
        let peripheral = try connected()
        let characteristic = try #require(peripheral.services?.first?.characteristics?.first)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        deliver(.servicesModified(invalidated: [Self.service.id]))
        deliver(.valueWritten(characteristic: Self.characteristic.id, .att(.invalidHandle)))
        #expect(listener.calls.last == "written 2A39 CBATTErrorDomain 1")

        system.deliver(
            .disconnected(Self.peer, .coreBluetooth(.peripheralDisconnected), microseconds: 0, isReconnecting: false))
        connect()
        listener.forget()
        deliver(.valueWritten(characteristic: Self.characteristic.id, nil))
        #expect(listener.calls == ["written 2A39 nil"])
        #expect(listener.last !== characteristic)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        listener.settle()
        #expect(listener.calls.last == "written 2A39 CBErrorDomain 2")
    }

    @Test("an attribute of another peripheral, and any while there is no link, is reported only in the log")
    func strangers() throws {
        let peripheral = try connected()
        let characteristic = try #require(peripheral.services?.first?.characteristics?.first)
        system.deliver(
            .discovered(PeripheralDescription(identifier: PeerIdentifier(high: 3, low: 4)), .init(), rssi: -40))
        listener.settle()
        let other = try #require(listener.peripheral)
        other.delegate = listener
        system.deliver(
            .connected(
                PeripheralDescription(identifier: PeerIdentifier(high: 3, low: 4)), maximumWriteLength: WriteLimits()))
        listener.settle()
        listener.forget()
        other.readValue(for: characteristic)
        deliver(.servicesModified(invalidated: [Self.service.id]))
        system.deliver(.disconnected(Self.peer, nil, microseconds: 0, isReconnecting: false))
        listener.settle()
        listener.forget()
        peripheral.readValue(for: characteristic)
        listener.settle()
        #expect(listener.calls.isEmpty)
        #expect(system.logs == [String](repeating: LogMessage.unknownAttribute.text, count: 2))
    }

    /// A delegate that keeps what it is told, on a queue of its own.
    private final class Listener: NSObject, @unchecked Sendable, CBCentralManagerDelegate, CBPeripheralDelegate {
        // @unchecked Sendable is safe because a test looks only after `settle`.
        let queue = DispatchQueue(label: "listener")
        var manager: CBCentralManager!
        private(set) var calls: [String] = []
        private(set) var peripheral: CBPeripheral?
        private(set) var last: CBAttribute?

        func settle() { manager.channel.queue.sync {} }
        func forget() { calls = [] }

        private func note(_ what: String, _ attribute: CBAttribute, _ error: (any Error)?) {
            let error = error.map { "\(($0 as NSError).domain) \(($0 as NSError).code)" } ?? "nil"
            calls.append("\(what) \(attribute.uuid.uuidString) \(error)")
            last = attribute
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {}

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) { self.peripheral = peripheral }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
        ) { note("included", service, error) }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
        ) { note("characteristics", service, error) }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
        ) { note("descriptors", characteristic, error) }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) { note("value", characteristic, error) }

        func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
            note("value", descriptor, error)
        }

        func peripheral(
            _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) { note("written", characteristic, error) }

        func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
            note("written", descriptor, error)
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) { note("notifying", characteristic, error) }
    }
}
