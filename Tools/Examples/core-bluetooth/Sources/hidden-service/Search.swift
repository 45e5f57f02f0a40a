// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

/// Scans for services, and discovers the services of each device that it finds.
@MainActor
final class Search: NSObject {
    private var manager: CBCentralManager!
    private let services: [CBUUID]
    private let connects: Bool
    private var found: [CBPeripheral] = []

    /// - Parameter connects: whether it connects to the first device, to see that it has the services.
    init(_ services: [CBUUID], connects: Bool) {
        self.services = services
        self.connects = connects
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }
}

extension Search: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: services) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        func uuids(_ key: String) -> String {
            (advertisementData[key] as? [CBUUID] ?? []).map(\.uuidString).joined(separator: ",")
        }
        report(
            "discovered",
            [
                "name": advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "",
                "visible": uuids(CBAdvertisementDataServiceUUIDsKey),
                "hashed": uuids(CBAdvertisementDataOverflowServiceUUIDsKey),
            ])
        guard connects, found.isEmpty else { return }
        found.append(peripheral)
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(services)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        report("disconnected", ["error": error?.localizedDescription ?? "none"])
    }
}

extension Search: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        report("services", ["uuids": (peripheral.services ?? []).map(\.uuid.uuidString).joined(separator: ",")])
        manager.cancelPeripheralConnection(peripheral)
    }
}
