import CoreBluetooth

/// Scans with duplicates and counts what it hears of 1,000 devices.
final class ScanningApp: NSObject, CBCentralManagerDelegate {
    private var manager: CBCentralManager!
    private let wanted: Int
    private let ended: (_ discoveries: Int, _ devices: Int, _ seconds: Double) -> Void
    private var devices: [UUID: CBPeripheral] = [:]
    private var count = 0
    private var began: UInt64 = 0

    init(wanted: Int, ended: @escaping (_ discoveries: Int, _ devices: Int, _ seconds: Double) -> Void) {
        self.wanted = wanted
        self.ended = ended
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "app"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(
            withServices: [CBUUID(string: "180D")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi number: NSNumber
    ) {
        if count == 0 { began = SocketController.nanoseconds }
        count += 1
        devices[peripheral.identifier] = peripheral
        guard count + central.lostEventCount >= wanted else { return }
        ended(count, devices.count, Double(SocketController.nanoseconds - began) / 1e9)
    }
}

/// Subscribes and measures how long each notification takes from the socket to the delegate.
final class SubscribingApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private var manager: CBCentralManager!
    private var sensor: CBPeripheral?
    private let controller: SocketController
    private let wanted: Int
    private let began: () -> Void
    private let ended: ([UInt64]) -> Void
    private var latencies: [UInt64] = []

    init(
        _ controller: SocketController, wanted: Int, began: @escaping () -> Void, ended: @escaping ([UInt64]) -> Void
    ) {
        self.controller = controller
        self.wanted = wanted
        self.began = began
        self.ended = ended
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "app"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi number: NSNumber
    ) {
        central.stopScan()
        sensor = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        if let value = service.characteristics?.first { peripheral.setNotifyValue(true, for: value) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        began()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        let now = SocketController.nanoseconds
        guard let value = characteristic.value, value.count == 4 else { return }
        let number = Int(value[0]) | Int(value[1]) << 8 | Int(value[2]) << 16
        guard number < wanted else { return ended(latencies) }
        if number >= 100 { latencies.append(now - controller.moments[number]) }
    }
}

/// Scans and counts, or only waits, as long as it runs.
final class ListeningApp: NSObject, CBCentralManagerDelegate {
    private var manager: CBCentralManager!
    private let scans: Bool
    private let allowsDuplicates: Bool
    private let ready: () -> Void
    private var count = 0

    init(scans: Bool, allowsDuplicates: Bool, ready: @escaping () -> Void) {
        self.scans = scans
        self.allowsDuplicates = allowsDuplicates
        self.ready = ready
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "app"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        if scans {
            central.scanForPeripherals(
                withServices: [CBUUID(string: "180D")],
                options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
        }
        ready()
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi number: NSNumber
    ) {
        count += 1
    }
}
