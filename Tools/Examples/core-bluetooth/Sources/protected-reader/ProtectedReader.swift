// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

func report(_ event: String, _ fields: [String: String] = [:]) {
    let line = fields.merging(["event": event]) { first, _ in first }
    guard let data = try? JSONEncoder().encode(line) else { return }
    print(String(decoding: data, as: UTF8.self))
    fflush(nil)
}

/// Reads one value that a device shows to paired centrals alone. Nothing here pairs: the system does so when the device
/// refuses the value.
@MainActor
final class ProtectedReader: NSObject {
    private var central: CBCentralManager!
    private var device: CBPeripheral?
    private let advertised: CBUUID
    private let characteristic: CBUUID
    private var status: Int32 = 1

    init(advertised: CBUUID, characteristic: CBUUID) {
        self.advertised = advertised
        self.characteristic = characteristic
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }
}

extension ProtectedReader: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [advertised]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        device = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report("connected")
        peripheral.discoverServices(nil)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        report("disconnected", ["error": error?.localizedDescription ?? "none"])
        exit(status)
    }
}

extension ProtectedReader: @preconcurrency CBPeripheralDelegate {
    /// What the device refuses, or cannot be trusted with: one that is bonded and has lost its keys is not even
    /// explored.
    private func giveUp(_ peripheral: CBPeripheral, _ error: any Error) {
        report("refused", ["code": "\((error as NSError).code)", "error": error.localizedDescription])
        central.cancelPeripheralConnection(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        if let error { return giveUp(peripheral, error) }
        for found in peripheral.services ?? [] { peripheral.discoverCharacteristics([characteristic], for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        if let error { return giveUp(peripheral, error) }
        for found in service.characteristics ?? [] { peripheral.readValue(for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error { return giveUp(peripheral, error) }
        status = 0
        report("value", ["value": String(decoding: characteristic.value ?? Data(), as: UTF8.self)])
        central.cancelPeripheralConnection(peripheral)
    }
}
