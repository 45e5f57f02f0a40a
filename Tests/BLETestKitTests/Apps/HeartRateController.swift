// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth
import Foundation

/// An app as somebody would write it for a phone, on Core Bluetooth, without a line about tests.
final class HeartRateController: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // @unchecked Sendable is safe because everything happens on `queue`.
    let queue = DispatchQueue(label: "heart rate")
    private var manager: CBCentralManager!
    private var belt: CBPeripheral?
    private var lines: [String] = []

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// What the app has shown so far.
    var shown: [String] { queue.sync { lines } }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        case .unauthorized: lines.append("allow Bluetooth in the settings")
        default: lines.append("Bluetooth is off")
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard belt == nil else { return }
        belt = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        lines.append("lost \(peripheral.name ?? "?")")
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] where characteristic.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard let value = characteristic.value, value.count > 1 else { return }
        lines.append("\(value[1]) bpm")
    }
}
