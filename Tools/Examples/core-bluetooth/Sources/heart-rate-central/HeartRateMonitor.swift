// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

let heartRateServiceUUID = CBUUID(string: "180D")
let heartRateMeasurementUUID = CBUUID(string: "2A37")
let bodySensorLocationUUID = CBUUID(string: "2A38")

/// Finds a heart rate sensor, reads where it is worn and follows the pulse.
@MainActor
final class HeartRateMonitor: NSObject {
    private var centralManager: CBCentralManager!
    private var sensor: CBPeripheral?
    private let beatsWanted: Int
    private var beats = 0

    init(beatsWanted: Int) {
        self.beatsWanted = beatsWanted
        super.init()
        centralManager = CBCentralManager(delegate: self, queue: nil)
    }

    private func report(_ fields: [(String, String)]) {
        print("{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}")
        fflush(nil)
    }

    private func heartRate(from characteristic: CBCharacteristic) -> Int {
        guard let data = characteristic.value, data.count > 1 else { return -1 }
        let byteArray = [UInt8](data)
        let isSixteenBit = byteArray[0] & 0x01 == 1
        guard isSixteenBit, byteArray.count > 2 else { return Int(byteArray[1]) }
        return Int(byteArray[1]) + Int(byteArray[2]) << 8
    }

    private func bodyLocation(from characteristic: CBCharacteristic) -> String {
        switch characteristic.value?.first {
        case 0: return "Other"
        case 1: return "Chest"
        case 2: return "Wrist"
        case 3: return "Finger"
        case 4: return "Hand"
        case 5: return "Ear Lobe"
        case 6: return "Foot"
        default: return "Unknown"
        }
    }
}

extension HeartRateMonitor: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn:
            report([("event", "state"), ("state", "poweredOn")])
            central.scanForPeripherals(withServices: [heartRateServiceUUID])
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff:
            report([("event", "state"), ("state", "\(central.state)")])
        @unknown default:
            break
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name ?? "?"
        report([("event", "discovered"), ("name", name), ("rssi", RSSI.stringValue)])
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report([("event", "connected")])
        peripheral.discoverServices([heartRateServiceUUID])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        report([("event", "failed"), ("message", error?.localizedDescription ?? "")])
        exit(1)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        report([("event", "disconnected"), ("error", error?.localizedDescription ?? "none")])
        // Bluetooth is being reset: with the next state the search begins again.
        guard central.state == .poweredOn else { return }
        exit(error == nil && beats >= beatsWanted ? 0 : 1)
    }
}

extension HeartRateMonitor: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        guard let services = peripheral.services else { return }
        for service in services {
            report([("event", "service"), ("uuid", service.uuid.uuidString)])
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        guard let characteristics = service.characteristics else { return }
        for characteristic in characteristics {
            if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
            if characteristic.properties.contains(.notify) { peripheral.setNotifyValue(true, for: characteristic) }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        report([("event", "notifying"), ("isNotifying", "\(characteristic.isNotifying)")])
        if !characteristic.isNotifying { centralManager.cancelPeripheralConnection(peripheral) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        switch characteristic.uuid {
        case bodySensorLocationUUID:
            report([("event", "location"), ("location", bodyLocation(from: characteristic))])
        case heartRateMeasurementUUID:
            report([("event", "beat"), ("bpm", "\(heartRate(from: characteristic))")])
            beats += 1
            if beats == beatsWanted { peripheral.setNotifyValue(false, for: characteristic) }
        default:
            break
        }
    }
}
