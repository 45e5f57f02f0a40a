// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth
import Testing

/// The forms in which apps write their delegates in Swift 6: that they compile is the test.
@Suite("Forms of delegates in Swift 6")
@MainActor
struct SourceFormsTests {
    @Test("an actor-isolated class whose methods are nonisolated")
    func nonisolatedMethods() {
        let delegate = MainActorDelegate()
        #expect(delegate.states.isEmpty && delegate.central == nil)
    }

    @Test("an actor-isolated conformance")
    func isolatedConformance() {
        let delegate = IsolatedDelegate()
        let _: any CBPeripheralManagerDelegate = delegate
        #expect(delegate.subscribers.isEmpty)
    }

    @Test("a shared instance and constants of UUIDs")
    func shared() {
        #expect(Shared.service.uuidString == "180D" && Shared.instance.names.isEmpty)
    }
}

@MainActor
private final class MainActorDelegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    var states: [CBManagerState] = []
    lazy var made = CBCentralManager(delegate: self, queue: .main)
    var central: CBCentralManager?

    override init() { super.init() }

    nonisolated func centralManagerDidUpdateState(_ central: CBCentralManager) {
        let state = central.state
        MainActor.assumeIsolated { states.append(state) }
    }

    nonisolated func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        let count = peripheral.services?.count ?? 0
        Task { @MainActor in states.append(count == 0 ? .unknown : .poweredOn) }
    }
}

@MainActor
private final class IsolatedDelegate: NSObject {
    var subscribers: [CBCentral] = []
}

extension IsolatedDelegate: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        subscribers.append(central)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.offset <= characteristicValue.count else {
            peripheral.respond(to: request, withResult: .invalidOffset)
            return
        }
        request.value = characteristicValue.subdata(in: request.offset..<characteristicValue.count)
        peripheral.respond(to: request, withResult: .success)
    }

    private var characteristicValue: Data { Data() }
}

private final class Shared: NSObject, @unchecked Sendable, CBCentralManagerDelegate {
    static let instance = Shared()
    static let service = CBUUID(string: "180D")
    var names: [String] = []
    private var manager: CBCentralManager?
    weak var peripheral: CBPeripheral?

    func begin() {
        manager = CBCentralManager(
            delegate: self, queue: DispatchQueue.global(qos: .utility),
            options: [CBCentralManagerOptionShowPowerAlertKey: false])
        manager?.scanForPeripherals(withServices: [Self.service], options: nil)
        _ = Timer.scheduledTimer(withTimeInterval: 5, repeats: false) { [unowned self] _ in manager?.stopScan() }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if case .poweredOn = central.state { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if let name = advertisementData["kCBAdvDataLocalName"] as? String { names.append(name) }
        if let data = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] {
            names.append("\(data.count)")
        }
        if (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true { names.append("c") }
        if Int(truncating: RSSI) > -50 { self.peripheral = peripheral }
    }
}
