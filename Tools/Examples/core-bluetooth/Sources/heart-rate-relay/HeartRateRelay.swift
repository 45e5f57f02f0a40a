// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

let heartRateServiceUUID = CBUUID(string: "180D")
let heartRateMeasurementUUID = CBUUID(string: "2A37")
let relayServiceUUID = CBUUID(string: "7C7D0001-5B0E-4C63-9C0B-5C2D0D3C9A11")
let relayedPulseUUID = CBUUID(string: "7C7D0002-5B0E-4C63-9C0B-5C2D0D3C9A11")

/// Follows a heart rate sensor and serves its last pulse to others: both roles in one program, which may be killed at
/// any moment and goes on where it was when it is started again.
///
/// Both managers have a restore identifier, and the manifest declares both background modes. What was scanned for,
/// connected, published and advertised comes back with `willRestoreState`, before the first state.
@MainActor
final class HeartRateRelay: NSObject {
    private var central: CBCentralManager!
    private var server: CBPeripheralManager!
    private var sensor: CBPeripheral?
    private var pulse: CBMutableCharacteristic?
    private var lastMeasurement = Data([0, 0])

    override init() {
        super.init()
        central = CBCentralManager(
            delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "sensor"])
        server = CBPeripheralManager(
            delegate: self, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "relay"])
    }

    private func report(_ event: String, _ fields: [String: String] = [:]) {
        let line = fields.merging(["event": event]) { first, _ in first }
        guard let data = try? JSONEncoder().encode(line) else { return }
        print(String(decoding: data, as: UTF8.self))
        fflush(nil)
    }

    /// From whatever point the connection has reached.
    private func goOn(with sensor: CBPeripheral) {
        switch sensor.state {
        case .connected:
            if let service = sensor.services?.first(where: { $0.uuid == heartRateServiceUUID }) {
                subscribe(service, of: sensor)
            } else {
                sensor.discoverServices([heartRateServiceUUID])
            }
        case .connecting: report("waiting")
        default: central.connect(sensor)
        }
    }

    private func subscribe(_ service: CBService, of sensor: CBPeripheral) {
        guard let measurement = service.characteristics?.first(where: { $0.uuid == heartRateMeasurementUUID }) else {
            return sensor.discoverCharacteristics([heartRateMeasurementUUID], for: service)
        }
        if !measurement.isNotifying { sensor.setNotifyValue(true, for: measurement) }
    }

    private func advertise() {
        server.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Relay", CBAdvertisementDataServiceUUIDsKey: [relayServiceUUID],
        ])
    }
}

// MARK: - The sensor

extension HeartRateRelay: @preconcurrency CBCentralManagerDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] ?? []
        sensor = peripherals.first
        sensor?.delegate = self
        report(
            "willRestore",
            [
                "role": "central", "peripherals": peripherals.map(\.identifier.uuidString).joined(separator: ","),
                "scan": services.map(\.uuidString).joined(separator: ","),
            ])
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        report("state", ["role": "central", "state": "\(central.state)"])
        guard central.state == .poweredOn else { return }
        if let sensor {
            goOn(with: sensor)
        } else if !central.isScanning {
            central.scanForPeripherals(withServices: [heartRateServiceUUID])
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensor == nil else { return }
        report("discovered", ["peripheral": peripheral.identifier.uuidString])
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report("connected", ["peripheral": peripheral.identifier.uuidString])
        goOn(with: peripheral)
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        report("failed", ["error": error?.localizedDescription ?? "none"])
        Task {
            try await Task.sleep(for: .seconds(1))
            if let sensor { goOn(with: sensor) }
        }
    }

    /// The wish for a connection has no end: the sensor may come back in a second or next week.
    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        report("disconnected", ["error": error?.localizedDescription ?? "none"])
        central.connect(peripheral)
    }
}

extension HeartRateRelay: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        report("services")
        for service in peripheral.services ?? [] where service.uuid == heartRateServiceUUID {
            subscribe(service, of: peripheral)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        report("characteristics")
        subscribe(service, of: peripheral)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        report("notifying", ["isNotifying": "\(characteristic.isNotifying)"])
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let value = characteristic.value, value.count > 1 else { return }
        report("beat", ["bpm": "\(value[1])"])
        lastMeasurement = value
        if let pulse { _ = server.updateValue(value, for: pulse, onSubscribedCentrals: nil) }
    }
}

// MARK: - The service

extension HeartRateRelay: @preconcurrency CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        let characteristics = services.first { $0.uuid == relayServiceUUID }?.characteristics ?? []
        pulse = characteristics.first { $0.uuid == relayedPulseUUID } as? CBMutableCharacteristic
        report(
            "willRestore",
            [
                "role": "peripheral", "services": services.map(\.uuid.uuidString).joined(separator: ","),
                "characteristics": characteristics.map(\.uuid.uuidString).joined(separator: ","),
                "name": advertisement[CBAdvertisementDataLocalNameKey] as? String ?? "",
            ])
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        report("state", ["role": "peripheral", "state": "\(peripheral.state)"])
        // Below poweredOff the system has forgotten the services.
        if peripheral.state.rawValue < CBManagerState.poweredOff.rawValue { pulse = nil }
        guard peripheral.state == .poweredOn else { return }
        if pulse == nil {
            let pulse = CBMutableCharacteristic(
                type: relayedPulseUUID, properties: [.read, .notify], value: nil, permissions: .readable)
            let service = CBMutableService(type: relayServiceUUID, primary: true)
            service.characteristics = [pulse]
            peripheral.add(service)
            self.pulse = pulse
        } else if !peripheral.isAdvertising {
            advertise()
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        report("published", ["error": error?.localizedDescription ?? "none"])
        advertise()
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        report("advertising", ["error": error?.localizedDescription ?? "none"])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        report("subscribed", ["central": central.identifier.uuidString])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        report("read")
        guard request.offset <= lastMeasurement.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = lastMeasurement.subdata(in: request.offset..<lastMeasurement.count)
        peripheral.respond(to: request, withResult: .success)
    }
}
