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

    @Test("a conformance that trusts the queue")
    func trustingConformance() {
        let _: any CBCentralManagerDelegate = TrustingDelegate()
    }

    @Test("results may be left unused, as with everything that comes from Objective-C")
    func unusedResults() {
        let _: (CBCentralManager, CBPeripheralManager, CBPeripheral, CBMutableCharacteristic) -> Void = {
            central, manager, peripheral, characteristic in
            manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
            central.retrievePeripherals(withIdentifiers: [])
            central.retrieveConnectedPeripherals(withServices: [])
            peripheral.maximumWriteValueLength(for: .withResponse)
            CBCentralManager.supports(.extendedScanAndConnect)
        }
    }

    @Test("protocols of an app's own over the classes")
    func ownProtocols() {
        let _: any Scanning.Type = CBCentralManager.self
        let _: any Named.Type = CBPeripheral.self
    }

    @Test("advertisement data are read by any of the usual casts")
    func casts() {
        let data: [String: Any] = [
            CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataIsConnectable: NSNumber(value: true),
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: -4),
            CBAdvertisementDataServiceUUIDsKey: [Shared.service],
        ]
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
        #expect(data[CBAdvertisementDataIsConnectable] as? NSNumber == 1)
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -4)
        #expect((data as NSDictionary)[CBAdvertisementDataLocalNameKey] as? String == "Belt")
        #expect((data[CBAdvertisementDataServiceUUIDsKey] as? NSArray)?.count == 1)
        #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
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

private protocol Scanning: AnyObject {
    var state: CBManagerState { get }
    var delegate: (any CBCentralManagerDelegate)? { get set }
    func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]?)
    func connect(_ peripheral: CBPeripheral, options: [String: Any]?)
}
extension CBCentralManager: Scanning {}

private protocol Named {
    var identifier: UUID { get }
    var name: String? { get }
}
extension CBPeripheral: Named {}

@MainActor
private final class TrustingDelegate: NSObject {
    var peripherals = Set<CBPeripheral>()
}

extension TrustingDelegate: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: peripherals.removeAll()
        @unknown default: break
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if peripherals.insert(peripheral).inserted { central.connect(peripheral) }
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
