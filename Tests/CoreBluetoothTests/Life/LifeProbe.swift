// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

@testable import CoreBluetooth

/// An app of one manager that writes down its calls.
final class LifeProbe: Probe, @unchecked Sendable, CBCentralManagerDelegate, CBPeripheralDelegate,
    CBPeripheralManagerDelegate
{
    private(set) var central: CBCentralManager!
    private(set) var server: CBPeripheralManager!
    private(set) var peripheral: CBPeripheral?

    init(_ system: any BluetoothSystem, serves: Bool, isPreserved: Bool) {
        super.init()
        CurrentSystem.$override.withValue(system) {
            if serves {
                server = CBPeripheralManager(
                    delegate: self, queue: queue,
                    options: isPreserved ? [CBPeripheralManagerOptionRestoreIdentifierKey: "life"] : nil)
            } else {
                central = CBCentralManager(
                    delegate: self, queue: queue,
                    options: isPreserved ? [CBCentralManagerOptionRestoreIdentifierKey: "life"] : nil)
            }
        }
    }

    func service(_ uuid: String) -> CBService? { peripheral?.services?.first { $0.uuid == CBUUID(string: uuid) } }

    func characteristic(_ uuid: String) -> CBCharacteristic? {
        peripheral?.services?.lazy.compactMap { $0.characteristics?.first { $0.uuid == CBUUID(string: uuid) } }.first
    }

    // MARK: The central

    func centralManagerDidUpdateState(_ central: CBCentralManager) { note("state \(central.state)") }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        for peripheral in dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? [] {
            self.peripheral = peripheral
            peripheral.delegate = self
            let services = peripheral.services ?? []
            let notifying = services.flatMap { $0.characteristics ?? [] }.filter(\.isNotifying)
            note("restored \(peripheral.state) \(Self.list(services)) \(Self.list(notifying))")
        }
        if let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] {
            note("restored scan [\(services.map(\.uuidString).joined(separator: " "))]")
        }
    }

    private static func list(_ attributes: [CBAttribute]) -> String {
        "[\(attributes.map(\.uuid.uuidString).joined(separator: " "))]"
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        peripheral.delegate = self
        note("discovered \(peripheral.name ?? "nil")")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { note("connected") }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        note("failed \(text(error))")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        note("disconnected \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        note("modified \(Self.list(invalidatedServices))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { note("services") }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        note("characteristics")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        note("value \(characteristic.uuid.uuidString) \(error == nil ? hex(characteristic.value) : text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let end = error == nil ? "" : " \(text(error))"
        note("notifying \(characteristic.uuid.uuidString) \(characteristic.isNotifying)\(end)")
    }

    // MARK: The peripheral

    func serve() {
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "FFF1"), properties: [.read, .notify], value: nil, permissions: .readable)
        ]
        server.add(service)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note("state \(peripheral.state)") }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        note("restored \(Self.list(services)) \(advertisement?[CBAdvertisementDataLocalNameKey] as? String ?? "nil")")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        note("added \(service.uuid.uuidString)\(error == nil ? "" : " \(text(error))")")
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Jelling Peer",
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF0")],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        note("advertising\(error == nil ? "" : " \(text(error))")")
    }
}
