import CoreBluetooth
import Foundation

/// A device as somebody would write it on Core Bluetooth: a lamp that is switched by a characteristic.
final class LampController: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // @unchecked Sendable is safe because everything happens on `queue`.
    private let queue = DispatchQueue(label: "lamp")
    private var manager: CBPeripheralManager!
    private var isOn = false
    private let power = CBMutableCharacteristic(
        type: CBUUID(string: "FFE1"), properties: [.read, .write, .notify], value: nil,
        permissions: [.readable, .writeable])

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    var isLit: Bool { queue.sync { isOn } }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        service.characteristics = [power]
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Lamp", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFE0")],
        ])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data([isOn ? 1 : 0])
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let value = requests.first?.value, value == Data([0]) || value == Data([1]) else {
            return peripheral.respond(to: requests[0], withResult: .invalidAttributeValueLength)
        }
        isOn = value == Data([1])
        peripheral.respond(to: requests[0], withResult: .success)
        peripheral.updateValue(value, for: power, onSubscribedCentrals: nil)
    }
}
